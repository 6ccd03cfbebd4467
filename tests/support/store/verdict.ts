import { StoreCommands } from "./commands.ts";

export interface Verdict {
  files: number;
  bytes: number;
  problems: { kind: string; message: string; repairable: boolean; name?: string }[];
  repaired: { kind: string; message: string }[];
  more: boolean;
}

export async function verdictOf(
  commands: StoreCommands,
  ...args: string[]
): Promise<Verdict & { code: number }> {
  const { code, stdout } = await commands.run("verify", "--json", ...args);
  return { code, ...JSON.parse(stdout) as Verdict };
}
