import { Trash2 } from "lucide";
import { useApp } from "../core/context.ts";
import { IconButton } from "./button.tsx";
import { confirm, type Question } from "./dialog.tsx";

/** A button that removes something after a question, and says so. */
export function RemoveButton({ label, done, run, ...question }: Question & {
  /** What it removes, such as "Revoke backup". */
  label: string;
  /** What is said after it. */
  done: string;
  run: () => Promise<unknown>;
}) {
  const app = useApp();
  const remove = async () => {
    if (!await confirm(app, question)) return;
    await run();
    app.toasts.success(done);
  };
  return <IconButton icon={Trash2} label={label} onClick={remove} />;
}
