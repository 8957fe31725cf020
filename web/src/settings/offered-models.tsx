/** The models that a provider offers, as buttons: a field alone would show none of them to a person. */

import { visibleText } from '../format.ts'

interface OfferedProps {
  readonly label: string
  readonly more: (count: number) => string
  readonly offered: readonly string[]
  /** What stands in the field: the start or a part of a name, or a whole one. */
  readonly typed: string
  choose(model: string): void
}

const MAX_SHOWN = 12

export function OfferedModels({ label, more, offered, typed, choose }: OfferedProps) {
  const wanted = typed.trim().toLowerCase()
  const fitting = offered.filter((name) => name.toLowerCase().includes(wanted))
  const found = fitting.length > 0 ? fitting : offered
  return (
    <fieldset class="flex flex-wrap items-center gap-1.5" aria-label={label}>
      {found.slice(0, MAX_SHOWN).map((name) => (
        <button
          key={name}
          type="button"
          class="cursor-pointer rounded-full border border-line px-2.5 py-1 font-mono text-[13px] wrap-anywhere hover:bg-sunken aria-pressed:border-ink"
          aria-pressed={name === typed}
          onClick={() => choose(name)}
        >
          {visibleText(name)}
        </button>
      ))}
      {found.length > MAX_SHOWN && <span class="label">{more(found.length - MAX_SHOWN)}</span>}
    </fieldset>
  )
}
