import { Trash2 } from "lucide";
import { useApp } from "../core/context.ts";
import { Button, IconButton } from "./button.tsx";
import { confirm, type Question } from "./form.tsx";
import { Section } from "./page.tsx";

/** What a button removes, after a question. */
export interface Removal extends Question {
  /** What it removes, such as "Revoke backup". */
  label: string;
  /** What is said after it. */
  done: string;
  run: () => Promise<unknown>;
}

/** A button that removes something after a question, and says so. */
export function RemoveButton({ label, done, run, after, ...question }: Removal & {
  /** What follows it, such as loading the list again. */
  after?: () => unknown;
}) {
  const app = useApp();
  const remove = async () => {
    if (!await confirm(app, question)) return;
    await run();
    after?.();
    app.toasts.success(done);
  };
  return <IconButton icon={Trash2} label={label} onClick={remove} />;
}

/** The part of a page with the button that removes what the page is about, after a question. */
export function RemoveSection({ heading, lead, run, ...question }: Question & {
  heading: string;
  lead?: string;
  run: () => Promise<unknown>;
}) {
  const app = useApp();
  const remove = async () => {
    if (await confirm(app, question)) await run();
  };
  return (
    <Section title={heading} lead={lead}>
      <div class="row">
        <Button kind="danger" onClick={remove}>{question.action}…</Button>
      </div>
    </Section>
  );
}
