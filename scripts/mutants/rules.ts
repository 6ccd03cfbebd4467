import { type Mutant, mutantsOf } from "./mutant.ts";

/** Changes of the rules. */
export const RULES_MUTANTS: readonly Mutant[] = [
  ...mutantsOf("src/rules/names.ts", ["src/rules/names_test.ts"], [
    { find: "return bytes > limit ?", replace: "return bytes >= limit ?" },
    { find: "id.length <= MAX_PROJECT_ID", replace: "id.length < MAX_PROJECT_ID" },
    {
      find:
        'last slash\';\n  if (name.includes("\\0")) return "has a NUL character: leave it out";',
      replace: "last slash';",
    },
    {
      find:
        'the folder\';\n  if (name.includes("\\0")) return "has a NUL character: leave it out";',
      replace: "the folder';",
    },
    {
      find: "if (bytes > MAX_FILE_NAME) break;",
      replace: "if (bytes >= MAX_FILE_NAME - 1) break;",
    },
    { find: "unit >= FIRST_SURROGATE &&", replace: "unit > FIRST_SURROGATE &&" },
  ]),
  ...mutantsOf("src/rules/rights.ts", ["src/rules/rights_test.ts"], [
    { find: 'this.has("admin") && this.isForWholeProject', replace: "this.isForWholeProject" },
    { find: "this.drives === undefined && this.namePrefix", replace: "this.namePrefix" },
    { find: "return name.startsWith(this.namePrefix);", replace: 'return name !== "\\n";' },
    {
      find: "(expires ?? Infinity) <= this.expires) return;",
      replace: "(expires ?? 0) <= this.expires) return;",
    },
    {
      find: "return drives !== undefined && drives.every(",
      replace: "return drives === undefined || drives.every(",
    },
  ]),
  ...mutantsOf("src/rules/byte_range.ts", ["src/rules/byte_range_test.ts"], [
    {
      find: 'if (start >= size) return "unsatisfiable";',
      replace: 'if (start > size) return "unsatisfiable";',
    },
    { find: "Math.min(Number(last) + 1, size)", replace: "Number(last) + 1" },
    { find: "BigInt(last) < BigInt(first)", replace: "Number(last) < Number(first)" },
    { find: "Math.max(0, size - length)", replace: "size - length" },
  ]),
  ...mutantsOf("src/rules/preconditions.ts", ["src/rules/preconditions_test.ts"], [
    { find: "toSeconds(current.modified) > date", replace: "toSeconds(current.modified) >= date" },
    { find: "return current.dateIsStrong && parseHttpDate", replace: "return parseHttpDate" },
    {
      find: '(comparison === "weak" || !weak)',
      replace: '(comparison === "weak" || weak !== undefined)',
    },
  ]),
  ...mutantsOf("src/rules/payloads.ts", ["src/rules/payloads_test.ts"], [
    { find: "size < MIN_PART", replace: "size <= MIN_PART" },
    { find: "if (missing.length === 0)", replace: "if (missing.length <= 1)" },
  ]),
  ...mutantsOf("src/rules/secrets.ts", ["src/rules/secrets_test.ts"], [
    {
      find: "secret.length >= MIN_SHOWN_SECRET_LENGTH ?",
      replace: "secret.length >= KEY_PREFIX_LENGTH ?",
    },
    {
      find: "if (text.length > MAX_KEY_HEADER) return undefined;",
      replace: "if (text.length >= MAX_KEY_HEADER) return undefined;",
    },
  ]),
  ...mutantsOf("src/rules/hosts.ts", ["src/rules/hosts_test.ts"], [
    {
      find: "name.length > domain.length + 1 && name.endsWith(`.${domain}`)",
      replace: "name.endsWith(domain)",
    },
    {
      find: 'return (name.endsWith(".") ? name.slice(0, -1) : name).toLowerCase();',
      replace: "return name.toLowerCase();",
    },
  ]),
];
