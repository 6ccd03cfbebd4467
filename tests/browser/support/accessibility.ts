import axe from "axe-core";
import { assertEquals } from "@std/assert";
import type { Page } from "playwright-core";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

interface Finding {
  id: string;
  help: string;
  nodes: { html: string; failureSummary?: string }[];
}

/** Fails with every rule of WCAG levels A and AA that the page violates. Checked by `axe-core`. */
export async function assertAccessible(page: Page, name: string): Promise<void> {
  if (!await page.evaluate(() => "axe" in globalThis)) await page.evaluate(axe.source);
  const findings = await page.evaluate(async (values) => {
    const { axe } = globalThis as unknown as { axe: typeof import("axe-core") };
    const { violations } = await axe.run(document, { runOnly: { type: "tag", values } });
    return violations as unknown as Finding[];
  }, RULES);
  assertEquals(findings.flatMap(describe), [], `${name} violates accessibility rules`);
}

function describe({ id, help, nodes }: Finding): string[] {
  return nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html} ${failureSummary ?? ""}`);
}
