import type { App } from "../core/context.ts";

/** The uploads of this page. */
export class Transfers {
  constructor(readonly app: App) {}
}
