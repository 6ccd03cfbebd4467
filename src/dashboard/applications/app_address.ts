import type { Schemas } from "../core/api.ts";

/** Returns the address at which callers open an application; `undefined` if the server has no gate. */
export function addressOfApp(
  { project_id, name, host }: Pick<Schemas["App"], "project_id" | "name" | "host">,
  gate: Schemas["AppList"]["gate"],
  hostname: string,
): string | undefined {
  if (gate === null) return undefined;
  const { scheme, port } = gate;
  const isDefault = port === (scheme === "https" ? 443 : 80);
  const address = `${scheme}://${host ?? hostname}${isDefault ? "" : `:${port}`}/`;
  return host === null
    ? `${address}${encodeURIComponent(project_id)}/${encodeURIComponent(name)}/`
    : address;
}
