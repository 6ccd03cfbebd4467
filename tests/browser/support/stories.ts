import { assertNotMatch } from "@std/assert";
import type { Browser } from "playwright-core";
import { Gate } from "../../support/gate/gate.ts";
import type { ServerOptions } from "../../support/server.ts";
import { startChromium } from "./chromium.ts";
import { Scene } from "./scene.ts";

export type Story = (scene: Scene) => Promise<void>;
export type AddStory = (sentence: string, run: Story) => void;

/**
 * A test whose stories share a server and a browser; each has a tab and a project of its own. The stories are added by
 * the function that this gives back, while the module is being loaded.
 */
export function stories(about: string, options: ServerOptions = {}): AddStory {
  const all: [string, Story][] = [];
  Deno.test({
    name: about,
    // The driver keeps timers and pipes of its own until the browser has ended.
    sanitizeOps: false,
    sanitizeResources: false,
    async fn(t) {
      await using gate = await Gate.start(options);
      await using browser = await startChromium();
      for (const [sentence, run] of all) {
        await t.step(sentence, () => tell(browser, gate, sentence, run));
      }
      await t.step("The server printed no stack trace.", () => {
        assertNotMatch(gate.server.text, /^\s+at .*:\d+:\d+/m);
      });
    },
  });
  return (sentence, run) => {
    all.push([sentence, run]);
  };
}

async function tell(browser: Browser, gate: Gate, sentence: string, run: Story): Promise<void> {
  await using scene = await Scene.open(browser, gate);
  try {
    await run(scene);
    await scene.watch.judge();
  } catch (cause) {
    await scene.keepPicture(sentence);
    const sentences = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${sentences}\n${scene.watch.text}`, { cause });
  }
}
