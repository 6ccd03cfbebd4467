import { stories } from "./support/stories.ts";
const story = stories("Signing in");
story("A person signs in.", async ({ page, server }) => {
  await page.goto(server.origin);
});
