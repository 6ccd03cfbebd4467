import { Answer } from "../answer.ts";
import type { Drive } from "../drive.ts";
import { newAddress } from "../server.ts";

/** A link as the API shows it. */
export interface Link {
  id: string;
  url: string;
  name?: string;
  prefix?: string;
  created: string;
  expires: string | null;
  download: boolean;
  has_password: boolean;
  max_downloads: number | null;
  downloads: number;
}

/** Makes a link of a drive. */
export async function makeLink(drive: Drive, body: unknown): Promise<Link> {
  const answer = await drive.send("POST", "/links", { body: JSON.stringify(body) });
  return answer.expect(201).json as Link;
}

/** Changes the settings of a link. */
export async function changeLink(drive: Drive, id: string, changes: unknown): Promise<Link> {
  const answer = await drive.send("PATCH", `/links/${id}`, { body: JSON.stringify(changes) });
  return answer.expect(200).json as Link;
}

/** The links of a drive, as one page lists them. */
export async function linksOf(drive: Drive, query = ""): Promise<Link[]> {
  const answer = (await drive.send("GET", `/links${query}`)).expect(200);
  return (answer.json as { links: Link[] }).links;
}

/** What a visitor of a link sends. */
export interface Visit {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** A visitor's request, without a key, from an address of its own. */
export async function visit(
  url: string,
  { method = "GET", headers = {}, body }: Visit = {},
): Promise<Answer> {
  const init = {
    method,
    headers: { "X-Forwarded-For": newAddress(), ...headers },
    redirect: "manual",
    ...(body === undefined ? {} : { body }),
  } as const;
  return await Answer.of(await fetch(url, init));
}

/** The header with which a browser navigates. */
export const BROWSER = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

/** Headers of a browser that sends the form for a password. */
export const FORM = { ...BROWSER, "Content-Type": "application/x-www-form-urlencoded" };

/** The form with a password. */
export function form(password: string): string {
  return new URLSearchParams({ password }).toString();
}

/** `Authorization` with a password. */
export function basic(password: string, user = "anyone"): Record<string, string> {
  const bytes = new TextEncoder().encode(`${user}:${password}`);
  return { Authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` };
}
