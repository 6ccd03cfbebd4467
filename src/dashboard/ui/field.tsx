import { CircleAlert } from "lucide";
import type { ComponentChildren, InputHTMLAttributes } from "preact";
import { useId } from "preact/hooks";
import { Icon } from "./icon.tsx";

interface FieldProps {
  label: ComponentChildren;
  hint?: ComponentChildren;
  /** What is wrong with the value; shown beside the field. */
  problem?: string | undefined;
}

interface ControlAttributes {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

/** A label, a control, a hint and a problem that belong together. */
export function Field(
  { label, hint, problem, children }: FieldProps & {
    children: (attributes: ControlAttributes) => ComponentChildren;
  },
) {
  const id = useId();
  const hintId = `${id}-hint`;
  const problemId = `${id}-problem`;
  const described = [hint === undefined ? "" : hintId, problem ? problemId : ""];
  return (
    <div class="field">
      <label class="field-label" for={id}>{label}</label>
      {children({
        id,
        "aria-describedby": described.filter(Boolean).join(" ") || undefined,
        "aria-invalid": problem ? true : undefined,
      })}
      {hint === undefined ? null : <p class="hint" id={hintId}>{hint}</p>}
      {problem ? <p class="field-problem" id={problemId}>{problem}</p> : null}
    </div>
  );
}

/** The attributes of an input that a text field passes on. */
export interface InputAttributes {
  type?: "password" | "datetime-local";
  name?: string;
  autocomplete?: string;
  autocapitalize?: "off";
  spellcheck?: boolean;
  placeholder?: string;
  inputMode?: "numeric";
}

/** A field with one line of text. Browsers do not fill it in, unless it says with what. */
export function TextField(
  { label, hint, problem, value, onInput, ...rest }: FieldProps & InputAttributes & {
    value: string;
    onInput: (value: string) => void;
  },
) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(attributes) => (
        <input
          autocomplete="off"
          {...rest as InputHTMLAttributes<HTMLInputElement>}
          {...attributes}
          class="input"
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export function SelectField<T extends string>(
  { label, hint, problem, value, options, onChange }: FieldProps & {
    value: T;
    options: readonly (readonly [value: T, label: string])[];
    onChange: (value: T) => void;
  },
) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(attributes) => (
        <select
          {...attributes}
          class="input"
          value={value}
          onChange={(event) => onChange(event.currentTarget.value as T)}
        >
          {options.map(([value, label]) => <option key={value} value={value}>{label}</option>)}
        </select>
      )}
    </Field>
  );
}

export function Checkbox({ label, hint, checked, onChange, disabled = false }: {
  label: ComponentChildren;
  hint?: ComponentChildren;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
}) {
  const id = useId();
  return (
    <div class="check">
      <input
        type="checkbox"
        id={id}
        checked={checked}
        disabled={disabled}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {hint === undefined ? null : <p class="hint" id={`${id}-hint`}>{hint}</p>}
    </div>
  );
}

/** The problem of a whole form, announced when it appears. */
export function FormProblem({ text }: { text: string }) {
  return (
    <p class="form-problem" role="alert">
      {text === "" ? null : <Icon of={CircleAlert} />}
      {text}
    </p>
  );
}
