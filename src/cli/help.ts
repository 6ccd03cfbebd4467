import { SERVE_OPTIONS, variableOf } from "./options.ts";

/** What `kvdrive help` prints. */
export function helpText(version: string): string {
  const rows = SERVE_OPTIONS.map(({ name, value, help }) => {
    const flag = value === undefined ? `--${name}` : `--${name} ${value}`;
    return `  ${flag.padEnd(26)}${help}\n${" ".repeat(28)}${variableOf(name)}`;
  });
  return `kvdrive ${version}: file storage in named drives

Usage:
  kvdrive serve [OPTIONS]   start the server
  kvdrive version           print the version
  kvdrive help              print this

Options of serve, each with the environment variable that stands for it (the option wins):
${rows.join("\n")}

From the environment alone, as others on the machine can read command lines:
  KVDRIVE_PROJECT_KEY       <project id>_<secret>: makes sure that this project and key exist
  KVDRIVE_ADMIN_TOKEN       sets the administrator's token
`;
}
