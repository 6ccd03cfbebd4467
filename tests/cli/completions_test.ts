import { assertEquals } from "@std/assert";
import { isInstalled } from "../support/cli/shells.ts";
import { Folder, runCommand } from "../support/command.ts";

/** Words on a command line, of which the last is completed, and the expected completions. */
const CASES: readonly (readonly [line: readonly string[], expected: readonly string[]])[] = [
  [["pu"], ["put"]],
  [["key", ""], ["create", "list", "revoke"]],
  [["key", "create", "--na"], ["--name", "--name-prefix"]],
  [["put", "a", "d:", "--ty"], ["--type"]],
  [["serve", "--tls-"], ["--tls-cert", "--tls-key"]],
  [["version", "--"], []],
  [["access", ""], ["on", "off"]],
  [["completion", ""], ["bash", "zsh", "fish"]],
];

/** Prints the completions of the words in `$@`, for the script in `$1`. */
const DRIVERS = {
  bash: `source "$1"; shift; COMP_WORDS=(kvdrive "$@"); COMP_CWORD=$#; _kvdrive
    printf '%s\\n' "\${COMPREPLY[@]}"`,
  // Outside of a completion, compadd is not available: all candidates are printed.
  zsh: `compdef() { : }; _files() { : }; compadd() { shift; print -l -- "$@" }
    source "$1"; shift; () { local -a words; words=(kvdrive "$@"); local CURRENT=$#words; _kvdrive } "$@"`,
  fish: `source $argv[1]; complete -C "kvdrive $argv[2..-1]"`,
};

for (const [shell, driver] of Object.entries(DRIVERS)) {
  Deno.test({
    name: `The completions for ${shell} offer commands and options`,
    ignore: !await isInstalled(shell),
    async fn() {
      await using folder = await Folder.make();
      const { stdout: script, stderr, code } = await runCommand(["completion", shell]);
      assertEquals([code, stderr], [0, ""]);
      const file = await folder.write("script", script);
      for (const [words, expected] of CASES) {
        const prefix = words.at(-1) ?? "";
        const lines = (await run(shell, driver, [file, ...words])).split("\n");
        const found = lines.map((line) => line.split("\t")[0] ?? "")
          .filter((word) => word !== "" && word.startsWith(prefix));
        assertEquals(found.sort(), [...expected].sort(), words.join(" "));
      }
    },
  });
}

Deno.test("An unknown shell is refused with the usage", async () => {
  for (const args of [[], ["tcsh"], ["bash", "zsh"]]) {
    const { code, stdout, stderr } = await runCommand(["completion", ...args]);
    assertEquals([code, stdout], [2, ""]);
    assertEquals(stderr.includes("usage: kvdrive completion bash|zsh|fish"), true, stderr);
  }
});

async function run(shell: string, driver: string, args: readonly string[]): Promise<string> {
  // fish has no name for the script before the arguments.
  const name = shell === "fish" ? [] : [shell];
  const command = new Deno.Command(shell, { args: ["-c", driver, ...name, ...args] });
  const { stdout, stderr } = await command.output();
  const text = new TextDecoder().decode(stderr);
  assertEquals(text, "");
  return new TextDecoder().decode(stdout);
}
