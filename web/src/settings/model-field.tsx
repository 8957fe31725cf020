/** The name of a model, and the names that the provider offers as buttons: a field alone shows none of them. */

import { type Language, visibleText } from '../format.ts'
import { MODEL_TEXTS } from '../texts/settings/models.ts'
import { TextField } from './form.tsx'

interface ModelFieldProps {
  readonly language: Language
  /** null: the provider was not asked. */
  readonly offered: readonly string[] | null
  readonly model: string
  choose(model: string): void
}

export function ModelField({ language, offered, model, choose }: ModelFieldProps) {
  const own = MODEL_TEXTS[language].wizard
  return (
    <>
      <TextField
        label={own.model}
        help={own.modelHelp}
        value={model}
        isMono
        suggestions={offered ?? []}
        onChange={choose}
      />
      {offered && <Offered {...{ language, offered, model, choose }} />}
    </>
  )
}

const MAX_SHOWN = 12
const CHOICE_CLASSES = [
  'cursor-pointer rounded-full border border-line px-2.5 py-1 font-mono text-[13px] wrap-anywhere',
  'hover:bg-sunken aria-pressed:border-ink',
].join(' ')

/** Those that contain what is typed, else all. */
function Offered({ language, offered, model, choose }: ModelFieldProps & { readonly offered: readonly string[] }) {
  const own = MODEL_TEXTS[language].wizard
  const fitting = offered.filter((name) => name.toLowerCase().includes(model.trim().toLowerCase()))
  const found = fitting.length > 0 ? fitting : offered
  return (
    <fieldset class="flex flex-wrap items-center gap-1.5" aria-label={own.offered}>
      {found.slice(0, MAX_SHOWN).map((name) => (
        <button
          key={name}
          type="button"
          class={CHOICE_CLASSES}
          aria-pressed={name === model}
          onClick={() => choose(name)}
        >
          {visibleText(name)}
        </button>
      ))}
      {found.length > MAX_SHOWN && <span class="label">{own.moreOffered(found.length - MAX_SHOWN)}</span>}
    </fieldset>
  )
}
