/** What an agent said in a conversation. Of a long text the beginning is drawn, and a button that shows all of it. */

import { useMemo, useState } from 'preact/hooks'
import { byteSize } from '../format.ts'
import { Markdown } from '../markdown.tsx'
import type { ViewContext } from '../view-context.ts'

const FIRST_CHARS = 8000
/** A conversation may hold a hundred messages. */
const FIRST_CHARS_OF_EARLIER = 1500

const BUTTON_CLASSES = 'mt-2 cursor-pointer text-link underline underline-offset-2'

interface AnswerProps {
  readonly context: ViewContext
  readonly text: string
  readonly keepsLines?: boolean
  /** The message is one of the newest. */
  readonly isNew: boolean
}

export function Answer({ context: { texts, language }, text, keepsLines = false, isNew }: AnswerProps) {
  const [isAll, setAll] = useState(false)
  // What is shown stays, when newer messages come.
  const [limit] = useState(isNew ? FIRST_CHARS : FIRST_CHARS_OF_EARLIER)
  const start = useMemo(() => startOf(text, limit), [text, limit])
  const size = useMemo(() => new TextEncoder().encode(text).length, [text])
  if (start === text) return <Markdown text={text} keepsLines={keepsLines} />
  return (
    <>
      <div class={isAll ? '' : 'cut-off'}>
        <Markdown text={isAll ? text : start} keepsLines={keepsLines} />
      </div>
      <button type="button" class={BUTTON_CLASSES} aria-expanded={isAll} onClick={() => setAll(!isAll)}>
        {isAll ? texts.needs.showLess : texts.talk.showWhole(byteSize(size, language))}
      </button>
    </>
  )
}

/** Contract: the whole text if little would be left out, else its beginning, up to the end of a block or line. */
function startOf(text: string, limit: number): string {
  if (text.length <= limit * 1.25) return text
  const start = text.slice(0, limit)
  const end = [start.lastIndexOf('\n\n'), start.lastIndexOf('\n'), start.lastIndexOf(' ')].find((at) => at > limit / 2)
  return end === undefined ? start.replace(/[\uD800-\uDBFF]$/, '') : start.slice(0, end)
}
