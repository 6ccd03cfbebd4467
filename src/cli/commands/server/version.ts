import { currentBuild, VERSION } from "../../../version.ts";
import type { Arguments } from "../../options/command.ts";
import { type Environment, print } from "../../terminal/output.ts";

export function printVersion(_args: Arguments, env: Environment): void {
  print(`kvdrive ${VERSION} (${currentBuild(env).kind}, deno ${Deno.version.deno})\n`);
}
