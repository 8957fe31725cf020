/** A long list within something that was opened: its first items, and a button that adds the next ones. */

import type { ComponentChild } from 'preact'
import { useState } from 'preact/hooks'
import { count } from './format.ts'
import { useTexts } from './page-language.ts'

interface FirstItemsProps<Item> {
  readonly items: readonly Item[]
  readonly atOnce?: number
  /** Contract: draws the items that it is given. */
  children(items: readonly Item[]): ComponentChild
}

export function FirstItems<Item>({ items, atOnce = 50, children }: FirstItemsProps<Item>) {
  const { language, texts } = useTexts()
  const [limit, setLimit] = useState(atOnce)
  const rest = items.length - limit
  return (
    <>
      {children(items.slice(0, limit))}
      {rest > 0 && (
        <button
          type="button"
          class="mt-1 block cursor-pointer px-1 text-link underline underline-offset-2"
          onClick={() => setLimit(limit + atOnce)}
        >
          {texts.showMoreItems(count(Math.min(rest, atOnce), language), count(rest, language))}
        </button>
      )}
    </>
  )
}
