/** Filters of a list. They are part of the address, so that a filtered list can be kept and sent. */

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { navigate } from '../shell/router.ts'

/** Contract: the address with other values of the query; empty ones are left out. */
export function withQuery(path: string, query: URLSearchParams, changes: Readonly<Record<string, string>>): string {
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') next.delete(name)
    else next.set(name, value)
  }
  const text = next.toString()
  return text === '' ? path : `${path}?${text}`
}

const FIELD_CLASSES = 'rounded-md border border-line bg-surface px-2.5 py-1.5 placeholder:text-muted'

interface SearchFieldProps {
  readonly label: string
  /** Of the address. */
  readonly value: string
  onSearch(text: string): void
}

/** After a pause of this length in typing, the list is searched. */
const TYPING_PAUSE_MS = 250

export function SearchField({ label, value, onSearch }: SearchFieldProps) {
  const [text, setText] = useState(value)
  const sought = useRef(value)
  useEffect(() => {
    // The address changed by itself: back, forward, or another filter.
    if (value !== sought.current) setText(value)
    sought.current = value
  }, [value])
  useEffect(() => {
    if (text.trim() === sought.current) return
    const timer = setTimeout(() => {
      sought.current = text.trim()
      onSearch(text.trim())
    }, TYPING_PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <input
      type="search"
      name="search"
      class={`min-w-40 flex-1 ${FIELD_CLASSES}`}
      autocomplete="off"
      aria-label={label}
      placeholder={label}
      value={text}
      onInput={({ currentTarget }) => setText(currentTarget.value)}
    />
  )
}

interface ChoiceProps {
  readonly label: string
  readonly value: string
  /** Value and text; the empty value stands for no filter. */
  readonly options: readonly (readonly [value: string, text: string])[]
  onChoose(value: string): void
}

export function Choice({ label, value, options, onChoose }: ChoiceProps) {
  return (
    <select
      class={`max-w-full ${FIELD_CLASSES}`}
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => onChoose(currentTarget.value)}
    >
      {options.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  )
}

interface FilterLinksProps {
  readonly label: string
  readonly path: string
  readonly query: URLSearchParams
  readonly name: string
  /** Value, text and how many there are; the empty value is the default. */
  readonly options: readonly (readonly [value: string, text: string, count?: number | undefined])[]
}

const LINK_CLASSES = 'flex items-center gap-1.5 rounded-full border px-3 py-1 whitespace-nowrap'

/** One filter as a row of links. */
export function FilterLinks({ label, path, query, name, options }: FilterLinksProps) {
  const current = query.get(name) ?? ''
  return (
    <nav aria-label={label}>
      <ul class="flex flex-wrap gap-1.5">
        {options.map(([value, text, count]) => (
          <li key={value}>
            <a
              href={withQuery(path, query, { [name]: value })}
              aria-current={value === current ? 'true' : undefined}
              class={`${LINK_CLASSES} ${
                value === current ? 'border-ink font-medium' : 'border-line text-muted hover:text-ink'
              }`}
            >
              {text}
              {count !== undefined && count > 0 && <span class="figures">{count}</span>}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** Contract: changes filters of the current address without an entry in the history. */
export const applyFilter = (path: string, query: URLSearchParams, changes: Readonly<Record<string, string>>): void =>
  navigate(withQuery(path, query, changes), { replace: true })

export const FilterRow = ({ children }: { readonly children: ComponentChildren }) => (
  <div class="flex flex-wrap items-center gap-2">{children}</div>
)
