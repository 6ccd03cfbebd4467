import { join } from "@std/path/join";

/** Installs a package file into a folder of its own, and returns the path of its command. */
export async function installGlobally(file: string, prefix: string): Promise<string> {
  const args = ["install", "--global", "--prefix", prefix, "--no-audit", "--no-fund", file];
  const { success, stderr } = await new Deno.Command("npm", { args, stdin: "null" }).output();
  if (!success) throw new Error(`npm failed: ${new TextDecoder().decode(stderr)}`);
  return join(prefix, "bin", "kvdrive");
}
