/** HTML in which nothing that is put in can be anything but text. */

const MARK = Symbol('markup')

export interface Markup {
  readonly [MARK]: string
}

type Part = Markup | string | number | null | undefined | readonly Part[]

/** Contract: every part is escaped, unless it was made by this very function. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return { [MARK]: texts.map((text, i) => text + (i < parts.length ? shown(parts[i]) : '')).join('') }
}

/** Contract: for what is ours alone, word by word. */
export const trusted = (text: string): Markup => ({ [MARK]: text })

export const textOf = (markup: Markup): string => markup[MARK]

function shown(part: Part): string {
  if (part === null || part === undefined) return ''
  if (typeof part === 'string' || typeof part === 'number') return escaped(String(part))
  return MARK in part ? part[MARK] : part.map(shown).join('')
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '\0': '\u2400',
}

const escaped = (text: string): string => text.replaceAll(/[&<>"'\0]/g, (char) => ESCAPES[char] ?? '')
