import config from "../../deno.json" with { type: "json" };

/** The program's version. */
export const VERSION: string = config.version;
