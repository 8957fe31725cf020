/**
 * The difference between two versions of a text, from a unified diff: in one column, or side by side on wide screens.
 * Lines are text nodes; whatever a file contains is only shown.
 */

import type { ComponentChild } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { countChanges, type DiffHunk, type DiffPair, pairLines, parseDiff } from './diff-lines.ts'
import { type Language, visibleText } from './format.ts'
import { DIFF_TEXTS } from './texts/diff.ts'

interface DiffViewProps {
  /** In the format of `diff -u`, as `workspace diff` and `state diff` return it. */
  readonly diff: string
  readonly language: Language
}

/** Lines that are shown at once; more on request. */
const PAGE_LINES = 600
/** Longer lines are cut. */
const MAX_CHARS = 2000

export function DiffView({ diff, language }: DiffViewProps) {
  const texts = DIFF_TEXTS[language]
  const [limit, setLimit] = useState(PAGE_LINES)
  const [layout] = useDiffLayout()
  const hunks = useMemo(() => parseDiff(diff), [diff])
  const total = hunks.reduce((sum, { lines }) => sum + lines.length, 0)
  if (total === 0) return <p class="px-3 py-2 text-muted">{texts.equal}</p>
  const shown = firstLines(hunks, limit)
  return (
    <div data-diff={layout}>
      <table class="w-full table-fixed border-collapse font-mono text-[12.5px] leading-5" aria-label={texts.region}>
        {layout === 'split' ? <SplitColumns /> : <UnifiedColumns />}
        {shown.map((hunk, at) => (
          <tbody key={at}>
            {hunk.skipped > 0 && <Skipped text={texts.skipped(hunk.skipped)} isSplit={layout === 'split'} />}
            {layout === 'split' ? <SplitRows hunk={hunk} /> : <UnifiedRows hunk={hunk} />}
          </tbody>
        ))}
      </table>
      {total > limit && (
        <button
          type="button"
          class="w-full cursor-pointer border-t border-line px-3 py-2 text-link hover:underline"
          onClick={() => setLimit(limit + 4 * PAGE_LINES)}
        >
          {texts.rest(total - limit)}
        </button>
      )}
    </div>
  )
}

/** How many lines came and went. */
export function DiffStat({ diff, language }: DiffViewProps) {
  const { added, removed } = useMemo(() => countChanges(parseDiff(diff)), [diff])
  return (
    <span class="figures shrink-0 font-mono text-[12px]" title={DIFF_TEXTS[language].stat(added, removed)}>
      <span class="text-live">+{added}</span> <span class="text-fault">−{removed}</span>
    </span>
  )
}

function firstLines(hunks: readonly DiffHunk[], limit: number): readonly DiffHunk[] {
  const shown: DiffHunk[] = []
  let left = limit
  for (const { skipped, lines } of hunks) {
    if (left <= 0) break
    shown.push({ skipped, lines: lines.slice(0, left) })
    left -= lines.length
  }
  return shown
}

const UnifiedColumns = () => (
  <colgroup>
    <col class="hidden w-12 sm:table-column" />
    <col class="w-10 sm:w-12" />
    <col class="w-5" />
    <col />
  </colgroup>
)

const SplitColumns = () => (
  <colgroup>
    <col class="w-12" />
    <col class="w-1/2" />
    <col class="w-12" />
    <col class="w-1/2" />
  </colgroup>
)

function Skipped({ text, isSplit }: { readonly text: string; readonly isSplit: boolean }) {
  return (
    <tr class="bg-sunken">
      {!isSplit && <td class="hidden sm:table-cell" />}
      <td />
      {!isSplit && <td class="text-center text-muted">⋯</td>}
      <td class="px-2 font-sans text-[12px] text-muted" colSpan={isSplit ? 3 : 1}>
        {text}
      </td>
    </tr>
  )
}

type Line = DiffHunk['lines'][number]

const ROWS = { same: '', added: 'bg-live/10', removed: 'bg-fault/10' } as const
const PARTS = { same: '', added: 'bg-live/30', removed: 'bg-fault/30' } as const
const SIGNS = { same: '', added: '+', removed: '−' } as const
const NUMBER_CLASSES = 'figures pr-2 text-right align-top text-muted select-none'
const TEXT_CLASSES = 'px-2 align-top wrap-anywhere whitespace-pre-wrap'

function UnifiedRows({ hunk }: { readonly hunk: DiffHunk }): ComponentChild {
  return hunk.lines.map((line) => (
    <tr key={`${line.before} ${line.after}`} class={ROWS[line.kind]} data-line={line.kind}>
      <td class={`hidden sm:table-cell ${NUMBER_CLASSES}`}>{line.before}</td>
      <td class={NUMBER_CLASSES}>
        {line.after}
        <span class="sm:hidden">{line.after === null && line.before}</span>
      </td>
      <td class="text-center align-top">{SIGNS[line.kind]}</td>
      <td class={TEXT_CLASSES} dir="ltr">
        <LineText line={line} />
      </td>
    </tr>
  ))
}

function SplitRows({ hunk }: { readonly hunk: DiffHunk }): ComponentChild {
  return pairLines(hunk.lines).map((pair) => (
    <tr key={`${pair.left?.before} ${pair.right?.after}`}>
      <Side pair={pair} side="left" />
      <Side pair={pair} side="right" />
    </tr>
  ))
}

function Side({ pair, side }: { readonly pair: DiffPair; readonly side: 'left' | 'right' }) {
  const line = pair[side]
  const border = side === 'right' ? 'border-l border-line' : ''
  if (!line) return <td class={`bg-sunken ${border}`} colSpan={2} />
  return (
    <>
      <td class={`${NUMBER_CLASSES} ${ROWS[line.kind]} ${border}`}>{side === 'left' ? line.before : line.after}</td>
      <td class={`${TEXT_CLASSES} ${ROWS[line.kind]}`} dir="ltr" data-line={line.kind}>
        <LineText line={line} />
      </td>
    </>
  )
}

function LineText({ line: { kind, text, changed } }: { readonly line: Line }): ComponentChild {
  const cut = text.slice(0, MAX_CHARS)
  const rest = text.length > MAX_CHARS ? ' …' : ''
  if (!changed || changed[0] >= changed[1]) return <>{visibleText(cut) + rest || ' '}</>
  const [from, to] = changed
  return (
    <>
      {visibleText(cut.slice(0, from))}
      <span class={`rounded-sm ${PARTS[kind]}`}>{visibleText(cut.slice(from, to))}</span>
      {visibleText(cut.slice(to)) + rest}
    </>
  )
}

type DiffLayout = 'unified' | 'split'

const STORED = 'tireless-diff-layout'
const CHANGED = 'tireless:diff-layout'
const WIDE = '(min-width: 80rem)'

/** Contract: what the owner chose, else what fits; always one column where two do not fit. */
function readLayout(): DiffLayout {
  const isNarrow = matchMedia('(max-width: 60rem)').matches
  const chosen = localStorage.getItem(STORED)
  if (isNarrow || chosen === 'unified') return 'unified'
  return chosen === 'split' || matchMedia(WIDE).matches ? 'split' : 'unified'
}

function useDiffLayout(): readonly [DiffLayout, (layout: DiffLayout) => void] {
  const [layout, setLayout] = useState(readLayout)
  useEffect(() => {
    const read = (): void => setLayout(readLayout())
    addEventListener('resize', read)
    addEventListener(CHANGED, read)
    return () => {
      removeEventListener('resize', read)
      removeEventListener(CHANGED, read)
    }
  }, [])
  const choose = (chosen: DiffLayout): void => {
    localStorage.setItem(STORED, chosen)
    dispatchEvent(new Event(CHANGED))
  }
  return [layout, choose]
}

const CHOSEN = 'bg-sunken font-medium'

/** Chooses the layout of all differences; hidden where only one column fits. */
export function DiffLayoutSwitch({ language }: { readonly language: Language }) {
  const texts = DIFF_TEXTS[language]
  const [layout, choose] = useDiffLayout()
  return (
    <fieldset class="hidden self-end rounded-md border border-line p-0.5 min-[60.01rem]:flex" aria-label={texts.layout}>
      {(['unified', 'split'] as const).map((each) => (
        <button
          key={each}
          type="button"
          class={`cursor-pointer rounded px-2 py-0.5 ${each === layout ? CHOSEN : 'text-muted hover:text-ink'}`}
          aria-pressed={each === layout}
          onClick={() => choose(each)}
        >
          {texts.layouts[each]}
        </button>
      ))}
    </fieldset>
  )
}
