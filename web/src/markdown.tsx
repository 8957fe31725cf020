/**
 * Text of a model as Markdown. The parts of a text become elements of this list and nothing else: HTML stays
 * text, images become links, links lead to http and https only. No markup is ever built from a string.
 */

import type { ComponentChild } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { visibleText } from './format.ts'
import { type Part, parseMarkdown, readTask } from './parse-markdown.ts'
import { PlainText } from './plain-text.tsx'

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
  const parts = useMemo(() => parseMarkdown(shown), [shown])
  const [slice, setSlice] = useState(FIRST_SLICE)
  const { content, isCut } = useMemo(
    () => (parts ? draw(parts, { slice, keepsLines }) : plainText(shown)),
    [parts, shown, slice, keepsLines],
  )
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
  readonly keepsLines: boolean
}

function draw(parts: readonly Part[], { slice, keepsLines }: { slice: number; keepsLines: boolean }): Drawn {
  const pen = { left: slice, isCut: false, keepsLines }
  return { content: drawParts(parts, pen), isCut: pen.isCut }
}

/** Contract: the first parts, as many as may still be drawn. */
function drawParts(parts: readonly Part[], pen: Pen): ComponentChild {
  const drawn: ComponentChild[] = []
  for (const part of parts) {
    if (pen.left <= 0) {
      pen.isCut = true
      break
    }
    drawn.push(drawOnce(part, pen))
  }
  return drawn
}

/** Parts that were drawn whole. The same elements are given to Preact again, which then leaves them alone. */
const wholeParts = new WeakMap<Part, { readonly content: ComponentChild; readonly cost: number }>()

function drawOnce(part: Part, pen: Pen): ComponentChild {
  const known = wholeParts.get(part)
  if (known) {
    pen.left -= known.cost
    return known.content
  }
  const before = pen.left
  pen.left -= COST_OF_ELEMENT + part.text.length
  const content = drawPart(part, pen)
  if (pen.left > 0) wholeParts.set(part, { content, cost: before - pen.left })
  return content
}

function drawPart(part: Part, pen: Pen): ComponentChild {
  const drawElement = Object.hasOwn(ELEMENTS, part.kind) ? ELEMENTS[part.kind] : undefined
  if (drawElement) return drawElement(part, pen)
  const Tag = Object.hasOwn(TAGS, part.kind) ? TAGS[part.kind] : undefined
  return Tag ? <Tag>{drawParts(part.parts, pen)}</Tag> : part.text
}

/** Kinds whose elements have no attributes. */
const TAGS: Readonly<Record<string, 'p' | 'strong' | 'em' | 'del' | 'blockquote' | 'ul' | 'thead' | 'tbody' | 'tr'>> = {
  paragraph: 'p',
  strong: 'strong',
  em: 'em',
  s: 'del',
  blockquote: 'blockquote',
  bullet_list: 'ul',
  thead: 'thead',
  tbody: 'tbody',
  tr: 'tr',
}

const ELEMENTS: Readonly<Record<string, (part: Part, pen: Pen) => ComponentChild>> = {
  hr: () => <hr />,
  hardbreak: () => <br />,
  softbreak: (_, { keepsLines }) => (keepsLines ? <br /> : '\n'),
  code_inline: ({ text }) => <code>{text}</code>,
  code_block: drawCode,
  fence: drawCode,
  heading: ({ tag, parts }, pen) => {
    // The page's own headings are above those of a text.
    const Heading = tag === 'h1' ? 'h3' : tag === 'h2' ? 'h4' : 'h5'
    return <Heading>{drawParts(parts, pen)}</Heading>
  },
  ordered_list: ({ attributes, parts }, pen) => <ol start={Number(attributes.start ?? 1)}>{drawParts(parts, pen)}</ol>,
  list_item: drawListItem,
  table: ({ parts }, pen) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard, too.
    <div class="wide-table" tabIndex={0}>
      <table>{drawParts(parts, pen)}</table>
    </div>
  ),
  th: (part, pen) => <th data-align={alignmentOf(part)}>{drawParts(part.parts, pen)}</th>,
  td: (part, pen) => <td data-align={alignmentOf(part)}>{drawParts(part.parts, pen)}</td>,
  link: ({ attributes, parts }, pen) => drawLink(attributes.href, drawParts(parts, pen)),
  image: ({ attributes, text }) => drawLink(attributes.src, `🖼 ${text || attributes.src}`),
}

function drawCode({ text }: Part): ComponentChild {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide block is scrolled with the keyboard, too.
    <pre tabIndex={0}>
      <code>{text.replace(/\n$/, '')}</code>
    </pre>
  )
}

function drawListItem(item: Part, pen: Pen): ComponentChild {
  const task = readTask(item)
  if (!task) return <li>{drawParts(item.parts, pen)}</li>
  return (
    <li class="task">
      <input type="checkbox" checked={task.isDone} disabled aria-label={task.isDone ? '✓' : '–'} />
      {drawParts(task.parts, pen)}
    </li>
  )
}

const alignmentOf = ({ attributes }: Part): string | undefined => attributes.style?.replace('text-align:', '')

function drawLink(href: string | undefined, label: ComponentChild): ComponentChild {
  const address = webAddress(href)
  if (address === undefined) return label
  return (
    <a href={address} target="_blank" rel="noopener noreferrer nofollow" title={address}>
      {label}
    </a>
  )
}

/** Contract: the address if it is one of the web; undefined for `javascript:`, `data:`, files and everything else. */
function webAddress(href: string | undefined): string | undefined {
  if (href === undefined || !URL.canParse(href)) return undefined
  const { protocol, href: address } = new URL(href)
  return protocol === 'https:' || protocol === 'http:' ? address : undefined
}
