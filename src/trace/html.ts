/** Builds HTML in which every inserted value is escaped. */

const HTML = Symbol('markup')

export interface Html {
  readonly [HTML]: string
}

type Part = Html | string | number | null | undefined | readonly Part[]

/** Contract: escapes every part, except markup made by this function or `trustedHtml`. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { [HTML]: texts.map((text, i) => text + (i < parts.length ? render(parts[i]) : '')).join('') }
}

/** Contract: only for constant text of the program. */
export const trustedHtml = (text: string): Html => ({ [HTML]: text })

export const htmlText = (markup: Html): string => markup[HTML]

function render(part: Part): string {
  if (part === null || part === undefined) return ''
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part))
  return HTML in part ? part[HTML] : part.map(render).join('')
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '\0': '\u2400',
}

const escapeHtml = (text: string): string => text.replaceAll(/[&<>"'\0]/g, (char) => ESCAPES[char] ?? '')
