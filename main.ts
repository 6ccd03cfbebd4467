/**
 * The server as a library. Started as a program, it is the command line of kvdrive, also on Deno Deploy.
 *
 * @module
 */
export { openServer } from "./src/server/library/open_server.ts";
export type { OpenServer, OpenServerOptions, Size, Time } from "./src/server/library/library.ts";
export type { Project } from "./src/client/mod.ts";
export type { RequestInfo } from "./src/server/runtime_handler.ts";

if (import.meta.main) {
  const { runCommand } = await import("./src/cli/main.ts");
  Deno.exit(await runCommand(Deno.args, Deno.env.toObject()));
}
