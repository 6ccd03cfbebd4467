import type { Mutant } from "./mutants.ts";

/** The changes that `deno task test:mutants` makes. */
export const MUTANTS: readonly Mutant[] = [];
