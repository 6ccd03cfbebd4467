/** What can stand in the document. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/** A schema of JSON Schema 2020-12. */
export interface Schema {
  readonly [key: string]: Json;
}

/** Says that something stands in `components`. A description here is put in place of the one there. */
export interface Reference {
  readonly $ref: string;
  readonly description?: string;
}

/** A header of an answer. */
export interface HeaderObject {
  readonly description: string;
  /** Whether every such answer has it. */
  readonly required?: boolean;
  readonly schema: Schema;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly description: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly style?: string;
  readonly explode?: boolean;
  readonly example?: Json;
}

export interface MediaType {
  readonly schema?: Schema;
  readonly example?: Json;
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: Json }>>;
}

export type Content = Readonly<Record<string, MediaType>>;

export interface Body {
  readonly description: string;
  readonly required: boolean;
  readonly content: Content;
}

/** Names and their headers, or where those stand. */
export type HeaderObjects = Readonly<Record<string, HeaderObject | Reference>>;

/** An answer with one status. */
export interface Answer {
  readonly description: string;
  readonly headers: HeaderObjects;
  readonly content?: Content;
}

/** One of these has to be met; each names its schemes. */
export type Security = readonly Readonly<Record<string, readonly string[]>>[];

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: Security;
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Answer | Reference>>;
}

export const METHODS = ["get", "head", "post", "put", "patch", "delete", "options"] as const;
export type Method = typeof METHODS[number];

/** Everything that one path answers. */
export interface PathItem extends Partial<Readonly<Record<Method, Operation>>> {
  readonly parameters: readonly (Parameter | Reference)[];
}

export type Paths = Readonly<Record<string, PathItem>>;

/** The whole description. */
export interface Document {
  readonly openapi: string;
  readonly info: Readonly<Record<string, Json>>;
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Paths;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

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
