/** The exact arguments of a call. Of long ones the beginning is shown, and a button that shows all of them. */

import { useMemo, useState } from 'preact/hooks'
import { count, visibleText } from '../format.ts'
import { useTexts } from '../page-language.ts'
import { PlainText } from '../plain-text.tsx'
import { useGrowing } from '../use-growing.ts'

const FIRST_ENTRIES = 30
const ENTRIES_IN_SLICE = 150
const FIRST_LINES = 12
const FIRST_CHARS = 1000

const VALUE_CLASSES = 'rounded-md bg-sunken px-2.5 py-1.5 font-mono text-[13px] whitespace-pre-wrap wrap-anywhere'
const BUTTON_CLASSES = 'mt-1 cursor-pointer text-link underline underline-offset-2'

export function Arguments({ args, label }: { readonly args: unknown; readonly label: string }) {
  const { language, texts } = useTexts()
  const [isAll, setAll] = useState(false)
  const entries = useMemo(() => entriesOf(args), [args])
  const total = isAll ? entries.length : Math.min(entries.length, FIRST_ENTRIES)
  const drawn = useGrowing(total, { first: FIRST_ENTRIES, slice: ENTRIES_IN_SLICE })
  return (
    <div class="min-w-0" data-arguments>
      <dl class="grid gap-x-3 gap-y-1.5 sm:grid-cols-[auto_minmax(0,1fr)]" aria-label={label}>
        {entries.slice(0, drawn).map(([name, value]) => (
          <div key={name} class="contents">
            <dt class="label pt-1.5 font-mono wrap-anywhere">{visibleText(name)}</dt>
            <dd class="min-w-0" dir="ltr">
              <Value value={value} />
            </dd>
          </div>
        ))}
      </dl>
      {entries.length > FIRST_ENTRIES && (
        <button type="button" class={BUTTON_CLASSES} aria-expanded={isAll} onClick={() => setAll(!isAll)}>
          {isAll ? texts.needs.showLess : texts.needs.showEntries(count(entries.length, language))}
        </button>
      )}
    </div>
  )
}

const entriesOf = (args: unknown): readonly (readonly [string, unknown])[] =>
  typeof args === 'object' && args !== null && !Array.isArray(args) ? Object.entries(args) : [['', args]]

function Value({ value }: { readonly value: unknown }) {
  const { language, texts } = useTexts()
  const [isAll, setAll] = useState(false)
  const text = useMemo(() => (typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')), [value])
  const start = useMemo(() => startOf(text), [text])
  const shown = <PlainText text={isAll ? text : start} />
  if (start === text) return <div class={VALUE_CLASSES}>{shown}</div>
  const lines = text.split('\n').length
  const showAll =
    lines > FIRST_LINES
      ? texts.needs.showLines(count(lines, language))
      : texts.needs.showCharacters(count(text.length, language))
  return (
    <>
      <div class={`${VALUE_CLASSES} ${isAll ? '' : 'cut-off'}`}>{shown}</div>
      <button type="button" class={BUTTON_CLASSES} aria-expanded={isAll} onClick={() => setAll(!isAll)}>
        {isAll ? texts.needs.showLess : showAll}
      </button>
    </>
  )
}

/** Contract: the whole text if it is short, else its first lines, without half a character at the end. */
function startOf(text: string): string {
  const start = text.slice(0, FIRST_CHARS).split('\n').slice(0, FIRST_LINES).join('\n')
  return start.length < text.length ? start.replace(/[\uD800-\uDBFF]$/, '') : text
}
