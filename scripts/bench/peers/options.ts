import type { readOptions } from "../../package/command_line.ts";

/** What `deno task bench:peers --help` prints. */
export const PEERS_HELP = `Usage: deno task bench:peers [OPTIONS]

Measures kvdrive beside other servers that are in the PATH. A missing server is left out and named.
Needs wrk; strace for the syncs of each write; up to 10 GB in the temporary folder and about 11 minutes.

  --only ROW      run the rows whose name contains ROW
  --peers NAMES   compare only with these servers, separated by commas: minio,rclone,dufs,tusd,pocketbase,weed,nginx,caddy
  --rounds N      how often each figure is measured (3)
  --markdown      print the table as Markdown
  --json FILE     write the figures to FILE as well
  -h, --help      print this
`;

/** The options of the command line. */
export const PEERS_OPTIONS = {
  only: { type: "string", default: "" },
  peers: { type: "string" },
  rounds: { type: "string", default: "3" },
  markdown: { type: "boolean", default: false },
  json: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;

type Values = Exclude<ReturnType<typeof readOptions<typeof PEERS_OPTIONS>>, number>;

/** The most rounds: numbers of uploads are unique up to there. */
const MAX_ROUNDS = 50;

/** Finds what is wrong with the options, as a sentence. @param programs The names that `--peers` may have. */
export function problemOf(
  { rounds, peers }: Pick<Values, "rounds" | "peers">,
  programs: readonly string[],
): string | undefined {
  if (!/^[1-9]\d*$/.test(rounds) || Number(rounds) > MAX_ROUNDS) {
    return `Bad value "${rounds}" of --rounds: it must be a number from 1 to ${MAX_ROUNDS}`;
  }
  const unknown = namesOf(peers)?.find((name) => !programs.includes(name));
  if (unknown === undefined) return undefined;
  return `Bad value "${unknown}" of --peers: it must be one of ${programs.join(", ")}`;
}

/** The programs that `--peers` names; all where it is not given. */
export function namesOf(peers: string | undefined): string[] | undefined {
  return peers?.split(",").map((name) => name.trim().toLowerCase()).filter((name) => name !== "");
}
