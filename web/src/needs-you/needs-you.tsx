/** The place Needs you: what waits for the owner, answered in place, with the mouse or the keyboard. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { Button, Card } from '../components.tsx'
import { Dialog, DialogButtons } from '../dialog.tsx'
import type { PageState, PageView } from '../page-state.ts'
import { NotRead, type PlaceProps } from '../shell/place.tsx'
import { isWriting, navigate } from '../shell/router.ts'
import type { Texts } from '../texts.ts'
import { useViewContext, type ViewContext } from '../view-context.ts'
import { ApprovalCard } from './approval-card.tsx'
import { ListedNeedCard } from './listed-need-card.tsx'
import { countNeeds, listNeeds, type Need } from './needs.ts'
import { FailureCard, QuestionCard, UnknownCard } from './other-cards.tsx'

const MAX_SHOWN = 50

export function NeedsYou(props: PlaceProps) {
  const { page, texts } = props
  const context = useViewContext(props, 5000)
  const all = listNeeds(page.view)
  const needs = all.slice(0, MAX_SHOWN)
  // The lists of the page are bounded; the status counts everything.
  const more = Math.max(all.length, countNeeds(page.view)) - MAX_SHOWN
  const [currentId, setCurrentId] = useState('')
  const [isHelpOpen, setHelpOpen] = useState(false)
  useKeys(needs, currentId, setCurrentId, () => setHelpOpen(true))
  return (
    <div class="mx-auto flex max-w-3xl flex-col gap-4">
      <header class="flex items-center justify-between gap-3">
        <h1 class="text-xl font-semibold tracking-tight">{texts.places.needs}</h1>
        <span class="hidden sm:block">
          <Button onClick={() => setHelpOpen(true)}>{texts.needs.keys}</Button>
        </span>
      </header>
      {needs.length === 0 && <Nothing texts={texts} view={page.view} />}
      {needs.map((need) => (
        <NeedView key={`${need.kind} ${need.id}`} {...{ context, page, need }} isCurrent={need.id === currentId} />
      ))}
      {more > 0 && <p class="px-1 text-muted">{texts.needs.moreLater(more)}</p>}
      {isHelpOpen && <KeyHelp texts={texts} onClose={() => setHelpOpen(false)} />}
    </div>
  )
}

function Nothing({ texts, view: { hasNeeds, isIncomplete } }: { readonly texts: Texts; readonly view: PageView }) {
  if (!hasNeeds) return isIncomplete ? <NotRead texts={texts} /> : null
  return (
    <Card class="px-6 py-10 text-center">
      <p class="text-lg font-medium" data-needs="none">
        {texts.needs.empty}
      </p>
      <p class="mt-1 text-muted">{texts.needs.emptyMore}</p>
    </Card>
  )
}

interface NeedViewProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly need: Need
  readonly isCurrent: boolean
}

function NeedView({ need, ...props }: NeedViewProps) {
  if (need.kind === 'approval') return <ApprovalCard {...props} approval={need.approval} />
  if (need.kind === 'unknown') return <UnknownCard {...props} unknown={need.unknown} />
  if (need.kind === 'question') return <QuestionCard {...props} dispatch={need.dispatch} />
  if (need.kind === 'other') return <ListedNeedCard {...props} listed={need.listed} />
  return <FailureCard {...props} dispatch={need.dispatch} count={need.count} />
}

/** Undefined: it belongs to no run. */
function runOf(need: Need): string | undefined {
  if (need.kind === 'other') return need.listed.run_id ?? undefined
  if (need.kind === 'approval') return need.approval.origin.run_id
  return need.kind === 'unknown' ? need.unknown.dispatch_id : need.dispatch.dispatch_id
}

interface KeyState {
  readonly needs: readonly Need[]
  readonly currentId: string
}

/** j and k choose, a and d press the buttons of the chosen card, Enter opens its run. */
function useKeys(needs: readonly Need[], currentId: string, choose: (id: string) => void, help: () => void): void {
  // Keys may follow each other faster than the page is drawn, so what they chose is kept beside the drawn state.
  const state = useRef<KeyState>({ needs, currentId })
  state.current = { needs, currentId }
  useEffect(() => {
    const handle = (event: KeyboardEvent): void => {
      if (isWriting(event.target) || event.ctrlKey || event.metaKey || event.altKey) return
      const current = state.current.needs.find(({ id }) => id === state.current.currentId)
      // Without a chosen card, a and d choose the first one, so that nothing is answered unseen.
      const chooses = event.key === 'j' || event.key === 'k' || (!current && (event.key === 'a' || event.key === 'd'))
      if (chooses) {
        const id = neighbourOf(state.current, event.key === 'k' ? -1 : 1)
        state.current = { ...state.current, currentId: id }
        choose(id)
      } else if (event.key === '?') help()
      else if (current && (event.key === 'a' || event.key === 'd')) pressIn(current.id, event)
      else if (current && event.key === 'Enter' && event.target === document.body) {
        const run = runOf(current)
        if (run !== undefined) navigate(`/runs/${encodeURIComponent(run)}`)
      }
    }
    document.addEventListener('keydown', handle)
    return () => document.removeEventListener('keydown', handle)
  }, [])
}

function neighbourOf({ needs, currentId }: KeyState, distance: 1 | -1): string {
  const at = needs.findIndex(({ id }) => id === currentId) + distance
  return needs[Math.max(0, Math.min(needs.length - 1, at))]?.id ?? ''
}

function pressIn(id: string, event: KeyboardEvent): void {
  const card = document.querySelector(`[data-need-id="${CSS.escape(id)}"]`)
  const target = card?.querySelector<HTMLElement>(
    `[data-key=${event.key}] button:not([disabled]), input[data-key=${event.key}]`,
  )
  if (!target) return
  event.preventDefault()
  if (target instanceof HTMLInputElement) target.focus()
  else target.click()
}

const KEYS = [
  ['j k', 'move'],
  ['a', 'yes'],
  ['d', 'no'],
  ['Enter', 'open'],
  ['?', 'help'],
] as const

function KeyHelp({ texts, onClose }: { readonly texts: Texts; onClose(): void }) {
  return (
    <Dialog title={texts.needs.keys} onClose={onClose}>
      <dl class="mt-3 grid grid-cols-[auto_1fr] gap-x-5 gap-y-2">
        {KEYS.map(([key, action]) => (
          <div key={key} class="contents">
            <dt class="font-mono">{key}</dt>
            <dd class="text-muted">{texts.needs.keyActions[action]}</dd>
          </div>
        ))}
      </dl>
      <DialogButtons>
        <Button onClick={onClose}>{texts.talk.close}</Button>
      </DialogButtons>
    </Dialog>
  )
}
