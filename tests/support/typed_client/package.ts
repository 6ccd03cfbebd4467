/**
 * The client as its users have it: the one file of the project's sources that tests import.
 *
 * @module
 */
// deno-lint-ignore kvdrive/import-direction
export * from "../../../src/client/mod.ts";
