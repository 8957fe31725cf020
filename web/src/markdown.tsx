/**
 * Text of a model as Markdown. The tokens of the parser become elements of this list and nothing else: HTML stays
 * text, images become links, links lead to http and https only. No markup is ever built from a string.
 */

import { Lexer, type Token, type Tokens } from 'marked'
import type { ComponentChild } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { visibleText } from './format.ts'
import { PlainText } from './plain-text.tsx'

/** Longer texts are shown as they are; parsing them would keep the page busy. */
const MAX_PARSED_CHARS = 60_000
const MAX_DEPTH = 12

/** What is drawn at once, and what each further frame adds, in characters and elements. */
const FIRST_SLICE = 8000
const NEXT_SLICE = 12_000
const COST_OF_ELEMENT = 20

interface MarkdownProps {
  readonly text: string
  /** Keeps the lines of the text, as in a chat; in a document they are only wrapped. */
  readonly keepsLines?: boolean
}

/** Contract: a long text is drawn in slices, one for each frame, so that it does not block the page. */
export function Markdown({ text, keepsLines = false }: MarkdownProps) {
  const shown = useMemo(() => visibleText(text), [text])
  const tokens = useMemo(() => parse(shown, keepsLines), [shown, keepsLines])
  const [slice, setSlice] = useState(FIRST_SLICE)
  const { content, isCut } = useMemo(() => (tokens ? draw(tokens, slice) : plainText(shown)), [tokens, shown, slice])
  useEffect(() => {
    if (!isCut) return
    const frame = requestAnimationFrame(() => setSlice(slice + NEXT_SLICE))
    return () => cancelAnimationFrame(frame)
  }, [isCut, slice])
  return (
    <div class="prose" dir="auto">
      {content}
    </div>
  )
}

interface Drawn {
  readonly content: ComponentChild
  /** There is more to draw. */
  readonly isCut: boolean
}

/** Contract: undefined if the text is shown as it is. */
function parse(text: string, keepsLines: boolean): readonly Token[] | undefined {
  if (text.length > MAX_PARSED_CHARS) return undefined
  try {
    return new Lexer({ gfm: true, breaks: keepsLines }).lex(text)
  } catch {
    // The parser gives up on texts that nest too deep.
    return undefined
  }
}

const plainText = (text: string): Drawn => ({
  content: (
    <div class="max-h-[60vh] overflow-auto whitespace-pre-wrap">
      <PlainText text={text} />
    </div>
  ),
  isCut: false,
})

/** How much may still be drawn. */
interface Pen {
  left: number
  isCut: boolean
}

interface Place {
  readonly depth: number
  readonly pen: Pen
}

function draw(tokens: readonly Token[], slice: number): Drawn {
  const pen = { left: slice, isCut: false }
  return { content: drawTokens(tokens, { depth: 0, pen }), isCut: pen.isCut }
}

/** Contract: the first items, as many as may still be drawn. */
function drawSome<T>(items: readonly T[], { pen }: Place, drawItem: (item: T, at: number) => ComponentChild) {
  const drawn: ComponentChild[] = []
  for (const [at, item] of items.entries()) {
    if (pen.left <= 0) {
      pen.isCut = true
      break
    }
    drawn.push(drawItem(item, at))
  }
  return drawn
}

function drawTokens(tokens: readonly Token[] | undefined, { depth, pen }: Place): ComponentChild {
  if (depth > MAX_DEPTH) return tokens?.map(({ raw }) => raw)
  const place = { depth: depth + 1, pen }
  return tokens && drawSome(tokens, place, (token) => drawOnce(token, place, () => drawToken(token, place)))
}

/** Parts that were drawn whole. The same elements are given to Preact again, which then leaves them alone. */
const wholeParts = new WeakMap<object, { readonly content: ComponentChild; readonly cost: number }>()

function drawOnce(part: object, { pen }: Place, drawPart: () => ComponentChild): ComponentChild {
  const known = wholeParts.get(part)
  if (known) {
    pen.left -= known.cost
    return known.content
  }
  const before = pen.left
  const content = drawPart()
  if (pen.left > 0) wholeParts.set(part, { content, cost: before - pen.left })
  return content
}

function drawToken(token: Token, place: Place): ComponentChild {
  const hasParts = 'tokens' in token || 'items' in token || 'rows' in token
  place.pen.left -= COST_OF_ELEMENT + (hasParts ? 0 : token.raw.length)
  const render = Object.hasOwn(ELEMENTS, token.type) ? ELEMENTS[token.type] : undefined
  return render ? render(token as Tokens.Generic, place) : decodeEntities(token.raw)
}

type Render = (token: Tokens.Generic, place: Place) => ComponentChild

const inside: Render = ({ tokens, text }, place) => (tokens ? drawTokens(tokens, place) : decodeEntities(text ?? ''))

const ELEMENTS: Readonly<Record<string, Render>> = {
  space: () => null,
  hr: () => <hr />,
  br: () => <br />,
  paragraph: (token, place) => <p>{inside(token, place)}</p>,
  text: inside,
  escape: ({ text }) => text,
  strong: (token, place) => <strong>{inside(token, place)}</strong>,
  em: (token, place) => <em>{inside(token, place)}</em>,
  del: (token, place) => <del>{inside(token, place)}</del>,
  codespan: ({ text }) => <code>{decodeEntities(text)}</code>,
  code: ({ text }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide block is scrolled with the keyboard, too.
    <pre tabIndex={0}>
      <code>{text}</code>
    </pre>
  ),
  blockquote: (token, place) => <blockquote>{inside(token, place)}</blockquote>,
  heading: (token, place) => {
    // The page's own headings are above those of a text.
    const Heading = (['h3', 'h4', 'h5'] as const)[Math.min(token.depth, 3) - 1] ?? 'h5'
    return <Heading>{inside(token, place)}</Heading>
  },
  list: (token, place) => drawList(token as Tokens.List, place),
  table: (token, place) => drawTable(token as Tokens.Table, place),
  link: (token, place) => renderLink(token.href, inside(token, place), token.raw),
  image: ({ href, text, raw }) => renderLink(href, `🖼 ${text || href}`, raw),
}

function drawList({ ordered, start, items }: Tokens.List, place: Place): ComponentChild {
  const children = drawSome(items, place, (item, at) => drawOnce(item, place, () => drawListItem(item, at, place)))
  return ordered ? <ol start={Number(start) || 1}>{children}</ol> : <ul>{children}</ul>
}

function drawListItem({ task, checked, tokens }: Tokens.ListItem, at: number, place: Place): ComponentChild {
  place.pen.left -= COST_OF_ELEMENT
  const content = tokens.filter(({ type }) => type !== 'checkbox')
  return (
    <li key={at} class={task ? 'task' : ''}>
      {task && <input type="checkbox" checked={checked ?? false} disabled aria-label={checked ? '✓' : '–'} />}
      {drawTokens(content, place)}
    </li>
  )
}

function drawTable({ header, rows }: Tokens.Table, place: Place): ComponentChild {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard, too.
    <div class="wide-table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {header.map(({ tokens, align }, at) => (
              <th key={at} data-align={align}>
                {drawTokens(tokens, place)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{drawSome(rows, place, (row, at) => drawOnce(row, place, () => drawRow(row, at, place)))}</tbody>
      </table>
    </div>
  )
}

function drawRow(row: readonly Tokens.TableCell[], at: number, place: Place): ComponentChild {
  place.pen.left -= COST_OF_ELEMENT * (row.length + 1)
  return (
    <tr key={at}>
      {row.map(({ tokens, align }, column) => (
        <td key={column} data-align={align}>
          {drawTokens(tokens, place)}
        </td>
      ))}
    </tr>
  )
}

function renderLink(href: unknown, label: ComponentChild, raw: string): ComponentChild {
  const address = webAddress(href)
  if (address === undefined) return label ?? raw
  return (
    <a href={address} target="_blank" rel="noopener noreferrer nofollow" title={address}>
      {label}
    </a>
  )
}

/** Contract: the address if it is one of the web; undefined for `javascript:`, `data:`, files and everything else. */
function webAddress(href: unknown): string | undefined {
  if (typeof href !== 'string' || !URL.canParse(href)) return undefined
  const { protocol, href: address } = new URL(href)
  return protocol === 'https:' || protocol === 'http:' ? address : undefined
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: '\u00a0' }

const decodeEntities = (text: string): string =>
  text.replaceAll(/&(amp|lt|gt|quot|#39|nbsp);/g, (whole, name: string) => ENTITIES[name] ?? whole)
