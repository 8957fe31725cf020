/** Plain text of any length: in pieces, of which the browser lays out only those near the window; more on request. */

import { useMemo, useState } from 'preact/hooks'
import { count, visibleText } from './format.ts'
import { useTexts } from './page-language.ts'
import { cutIntoPieces, endOf } from './text-pieces.ts'

const SHOWN_AT_ONCE = 40_000

export function PlainText({ text }: { readonly text: string }) {
  const { language, texts } = useTexts()
  const [limit, setLimit] = useState(SHOWN_AT_ONCE)
  const pieces = useMemo(() => cutIntoPieces(visibleText(text.slice(0, endOf(text, limit)))), [text, limit])
  const rest = text.length - limit
  return (
    <>
      {pieces.length === 1
        ? pieces[0]
        : pieces.map((piece, at) => (
            <span key={at} class="text-piece">
              {piece}
            </span>
          ))}
      {rest > 0 && (
        <button
          type="button"
          class="mt-1 block cursor-pointer font-sans text-link underline underline-offset-2"
          onClick={() => setLimit(limit + SHOWN_AT_ONCE)}
        >
          {texts.showMoreText(count(rest, language))}
        </button>
      )}
    </>
  )
}
