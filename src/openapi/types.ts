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

/** Refers to something in `components`. A description here replaces the one there. */
export interface Reference {
  readonly $ref: string;
  readonly description?: string;
}

export interface HeaderObject {
  readonly description: string;
  /** Whether every such response has it. */
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

/** Bodies by content type. */
export type Content = Readonly<Record<string, MediaType>>;

export interface Body {
  readonly description: string;
  readonly required: boolean;
  readonly content: Content;
}

/** Headers, or references to them, by name. */
export type HeaderObjects = Readonly<Record<string, HeaderObject | Reference>>;

/** The response with one status. */
export interface ResponseObject {
  readonly description: string;
  readonly headers: HeaderObjects;
  readonly content?: Content;
}

/** Alternatives, each of which names the security schemes that it needs. */
export type Security = readonly Readonly<Record<string, readonly string[]>>[];

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: Security;
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, ResponseObject | Reference>>;
}

/** The methods that a path item may have. */
export const METHODS = ["get", "head", "post", "put", "patch", "delete", "options"] as const;
/** A method in lower case, as the document has it. */
export type Method = typeof METHODS[number];

export interface PathItem extends Partial<Readonly<Record<Method, Operation>>> {
  readonly parameters: readonly (Parameter | Reference)[];
}

export type Paths = Readonly<Record<string, PathItem>>;

export interface Document {
  readonly openapi: string;
  readonly info: Readonly<Record<string, Json>>;
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Paths;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}
