/** The fields of an agent's form: label, hint, and beside each what is wrong with it. */

import type { ComponentChildren } from 'preact'
import { visibleText } from '../format.ts'
import type { AgentTexts } from '../texts/agent.ts'
import type { AgentDraft, FieldName } from './draft.ts'
import type { FieldErrors } from './save.ts'

export interface FormState {
  readonly own: AgentTexts
  readonly draft: AgentDraft
  readonly errors: FieldErrors
  /** Contract: changes a field, and forgets what was wrong with it. */
  set<Name extends FieldName>(name: Name, value: AgentDraft[Name]): void
}

interface FieldProps {
  readonly form: FormState
  readonly name: FieldName
}

export const INPUT_CLASSES = 'w-full min-w-0 rounded-md border bg-surface px-2.5 py-1.5 placeholder:text-muted'

const idOf = (name: FieldName): string => `agent-${name}`

/** Contract: attributes that tie an input to its label, hint and error. */
export const describedBy = ({ errors }: FormState, name: FieldName) => ({
  id: idOf(name),
  'aria-invalid': name in errors,
  'aria-describedby': `${idOf(name)}-help`,
})

/** `isGroup`: the field has several inputs, each with a label of its own. */
export function Field({
  form,
  name,
  isGroup = false,
  children,
}: FieldProps & { readonly isGroup?: boolean; readonly children: ComponentChildren }) {
  const { own, errors } = form
  const error = errors[name]
  const content = (
    <>
      {children}
      <div id={`${idOf(name)}-help`} class="mt-1">
        {error === undefined ? (
          <p class="label">{own.hints[name]}</p>
        ) : (
          <p class="text-fault" role="alert" data-field-error={name}>
            {own.wrong[name]}
            {error !== '' && <span class="label block wrap-anywhere">{visibleText(error)}</span>}
          </p>
        )}
      </div>
    </>
  )
  if (isGroup)
    return (
      <fieldset class="min-w-0" data-field={name}>
        <legend class="mb-1 font-medium">{own.fields[name]}</legend>
        {content}
      </fieldset>
    )
  return (
    <div class="min-w-0" data-field={name}>
      <label class="mb-1 block font-medium" for={idOf(name)}>
        {own.fields[name]}
      </label>
      {content}
    </div>
  )
}

type TextName = Exclude<FieldName, 'enabled'>

export function TextField({ form, name }: { readonly form: FormState; readonly name: TextName }) {
  return (
    <Field form={form} name={name}>
      <input
        {...describedBy(form, name)}
        class={`${INPUT_CLASSES} ${borderOf(form, name)}`}
        autocomplete="off"
        value={form.draft[name]}
        onInput={({ currentTarget }) => form.set(name, currentTarget.value)}
      />
    </Field>
  )
}

const AREA_CLASSES = 'field-sizing-content max-h-[60vh] min-h-24 font-mono text-[13px]'

export function AreaField({ form, name }: { readonly form: FormState; readonly name: TextName }) {
  return (
    <Field form={form} name={name}>
      <textarea
        {...describedBy(form, name)}
        class={`${INPUT_CLASSES} ${AREA_CLASSES} ${borderOf(form, name)}`}
        spellcheck={false}
        value={form.draft[name]}
        onInput={({ currentTarget }) => form.set(name, currentTarget.value)}
      />
    </Field>
  )
}

export const borderOf = ({ errors }: FormState, name: FieldName): string =>
  name in errors ? 'border-fault' : 'border-line'
