import { assertEquals } from "@std/assert";
import { isInstalled, wrapProgram } from "../support/cli/shells.ts";
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
  [["completion", ""], ["bash", "zsh", "fish", "powershell"]],
  [["backup", "key", ""], ["list", "add", "remove"]],
  [["help", "backup", "pr"], ["prune"]],
  [["-v", "key", "cr"], ["create"]],
  // An option that was given is not offered again, unless it may be repeated.
  [["put", "--type", "a/b", "--ty"], []],
  [["put", "--include", "a", "--incl"], ["--include"]],
  [["put", "--", "--ty"], []],
];

/** Those with which each shell is asked as well. */
const IN_SHELLS = CASES.filter((_, index) => [0, 1, 3, 5, 7].includes(index));

Deno.test("What a word can be follows from the words before it", async () => {
  for (const [words, expected] of CASES) {
    const { stdout, stderr, code } = await runCommand(["complete", "--", ...words]);
    assertEquals([code, stderr], [0, ""]);
    const found = firstColumn(stdout).filter((word) => word !== ":files");
    assertEquals(found.sort(), [...expected].sort(), words.join(" "));
  }
});

Deno.test("Files of this machine are offered where one can be given", async () => {
  const cases: [words: string[], offersFiles: boolean][] = [
    [["put", ""], true],
    [["put", "a", "photos:"], false],
    [["get", "photos:a", ""], true],
    [["get", "photos:a", "b", ""], false],
    [["ls", ""], false],
    [["ls", "--cacert", ""], true],
    [["put", "--type", ""], false],
    [["backup", "da"], true],
  ];
  for (const [words, offersFiles] of cases) {
    const { stdout } = await runCommand(["complete", "--", ...words]);
    assertEquals(firstColumn(stdout).includes(":files"), offersFiles, words.join(" "));
  }
});

function firstColumn(text: string): string[] {
  return text.split("\n").map((line) => line.split("\t")[0] ?? "").filter((word) => word !== "");
}

/** Prints the completions of the words in `$@`, for the script in `$1`. */
const DRIVERS = {
  bash: `source "$1"; shift; COMP_LINE="kvdrive $*"; COMP_POINT=\${#COMP_LINE}; _kvdrive
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
      const bin = await wrapProgram(folder, folder.at("arguments"));
      for (const [words, expected] of IN_SHELLS) {
        const found = firstColumn(await run(shell, driver, [file, ...words], bin));
        assertEquals(found.sort(), [...expected].sort(), words.join(" "));
      }
    },
  });
}

Deno.test("An unknown shell is refused with the usage", async () => {
  for (const args of [[], ["tcsh"], ["bash", "zsh"]]) {
    const { code, stdout, stderr } = await runCommand(["completion", ...args]);
    assertEquals([code, stdout], [2, ""]);
    assertEquals(
      stderr.includes("usage: kvdrive completion bash|zsh|fish|powershell"),
      true,
      stderr,
    );
  }
});

async function run(
  shell: string,
  driver: string,
  args: readonly string[],
  bin: string,
): Promise<string> {
  // fish has no name for the script before the arguments.
  const name = shell === "fish" ? [] : [shell];
  const PATH = `${bin}:${Deno.env.get("PATH")}`;
  const command = new Deno.Command(shell, {
    args: ["-c", driver, ...name, ...args],
    env: { PATH },
  });
  const { stdout, stderr } = await command.output();
  const text = new TextDecoder().decode(stderr);
  assertEquals(text, "");
  return new TextDecoder().decode(stdout);
}
