/** A number as it stands in the text: JavaScript has fewer digits. */
export class NumberText {
  constructor(readonly text: string) {}
}

export type Json = null | boolean | string | NumberText | Json[] | { [key: string]: Json };

/** Parses JSON, and keeps the digits of its numbers where the browser tells them. @throws {SyntaxError} */
export function parseJson(text: string): Json {
  type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;
  const keepDigits: Reviver = (_, value, context) =>
    typeof value === "number" ? new NumberText(context?.source ?? String(value)) : value;
  return JSON.parse(text.replace(/^\ufeff/, ""), keepDigits);
}

/** The entries of an object or array, as keys with values; `undefined` for anything else. */
export function entriesOf(value: Json): [key: string, value: Json][] | undefined {
  if (value === null || typeof value !== "object" || value instanceof NumberText) return undefined;
  return Object.entries(value);
}
