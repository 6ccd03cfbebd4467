import type { Reference, Schema } from "./types.ts";

/** A schema that stands in `components`. */
export function schema(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** A header that stands in `components`. */
export function header(name: string): Reference {
  return { $ref: `#/components/headers/${name}` };
}

/** A parameter that stands in `components`. */
export function parameter(name: string): Reference {
  return { $ref: `#/components/parameters/${name}` };
}

/** An answer that stands in `components`, with what it means here. */
export function answer(name: string, description: string): Reference {
  return { $ref: `#/components/responses/${name}`, description };
}
