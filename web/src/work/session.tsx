/** One session: its thread, its todos, its workspace, what it cost; a message to it; its archive. */

import { useState } from 'preact/hooks'
import { readCommand } from '../api.ts'
import type { Thread } from '../api-types.ts'
import { Button, Card, Dot, Empty, Section } from '../components.tsx'
import { Dialog, DialogButtons } from '../dialog.tsx'
import { clockTime, count, type Language, money, oneLine, relativeTime, visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import type { PlaceProps } from '../shell/place.tsx'
import { NotFetched } from '../tabbed-place.tsx'
import { sayTitle } from '../texts/errors.ts'
import { SESSION_TEXTS } from '../texts/work-sessions.ts'
import { useFetched, useKept } from '../use-fetched.ts'
import { useViewContext, type ViewContext } from '../view-context.ts'
import { Changes } from './changes.tsx'
import { WorkFrame } from './frame.tsx'
import { MessageField } from './message-field.tsx'
import { SESSION_TONES } from './sessions.tsx'
import { Said, ThreadRunView } from './thread.tsx'
import { TodoColumns } from './todo-columns.tsx'

const PAGE_RUNS = 20

export function SessionPlace(props: PlaceProps) {
  const { page, language, params, query } = props
  const context = useViewContext(props, 10_000)
  const id = params.id ?? ''
  const [limit, setLimit] = useState(PAGE_RUNS)
  const state = useFetched(page, `${id} ${limit}`, () => readCommand('sessions log', { id, limit }))
  const thread = useKept(state, id)
  return (
    <WorkFrame language={language} tab="sessions">
      <a class="label -my-2 self-start text-link underline underline-offset-2" href="/work/sessions">
        {SESSION_TEXTS[language].back}
      </a>
      {thread ? (
        <div class="flex min-w-0 flex-col gap-6">
          <Head context={context} page={page} thread={thread} />
          <ThreadView {...{ context, page, thread }} onEarlier={() => setLimit(limit + PAGE_RUNS)} />
          <Section title={SESSION_TEXTS[language].todos}>
            <TodoColumns {...{ context, page, query }} session={id} path={`/work/sessions/${encodeURIComponent(id)}`} />
          </Section>
          <SessionChanges key={id} page={page} language={language} session={id} />
        </div>
      ) : (
        <NotFetched language={language} state={state} />
      )}
    </WorkFrame>
  )
}

interface ThreadProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly thread: Thread
}

function Head({ context: { language, now }, page, thread }: ThreadProps) {
  const own = SESSION_TEXTS[language]
  const { session_id, agent_id, status, title, runs, cost_usd, created_at } = thread
  const began = Date.parse(created_at)
  return (
    <header class="flex flex-wrap items-start justify-between gap-3">
      <div class="min-w-0">
        <h2 class="line-clamp-2 text-lg font-semibold wrap-anywhere">
          {title === null ? own.untitled : oneLine(sayTitle(title, language))}
        </h2>
        <p class="label flex flex-wrap gap-x-2.5">
          <span class="flex items-center gap-1.5">
            <Dot tone={SESSION_TONES[status]} pulsing={status === 'active'} />
            {own.statuses[status]}
          </span>
          <span class="wrap-anywhere">{visibleText(agent_id)}</span>
          <time dateTime={created_at} title={clockTime(began, now, language)}>
            {own.started(relativeTime(began, now, language))}
          </time>
          <span>{own.runs(count(runs, language))}</span>
          <span class="figures">{cost_usd === null ? own.noCost : own.cost(money(cost_usd, language))}</span>
          <a class="text-link underline underline-offset-2" href={`/work/workspaces/${encodeURIComponent(session_id)}`}>
            {own.workspace}
          </a>
        </p>
      </div>
      <Archive page={page} language={language} thread={thread} />
    </header>
  )
}

interface ArchiveProps {
  readonly page: PageState
  readonly language: Language
  readonly thread: Thread
}

function Archive({ page, language, thread: { session_id: id, status } }: ArchiveProps) {
  const own = SESSION_TEXTS[language]
  const [isAsking, setAsking] = useState(false)
  const busy = page.view.busy.has('sessions archive')
  const archive = (undo: boolean) =>
    void page.run('sessions archive', { id, undo }, { done: undo ? own.unarchived : own.archived })
  if (status === 'archived')
    return (
      <Button busy={busy} onClick={() => archive(true)}>
        {own.unarchive}
      </Button>
    )
  // A session that is at work cannot be archived.
  if (status !== 'idle') return null
  return (
    <>
      <Button busy={busy} onClick={() => setAsking(true)}>
        {own.archive}
      </Button>
      {isAsking && (
        <Dialog title={own.archiveTitle} onClose={() => setAsking(false)}>
          <p class="mt-2 text-muted">{own.archiveHelp}</p>
          <DialogButtons>
            <Button onClick={() => setAsking(false)}>{own.cancel}</Button>
            <Button
              look="main"
              onClick={() => {
                setAsking(false)
                archive(false)
              }}
            >
              {own.archive}
            </Button>
          </DialogButtons>
        </Dialog>
      )}
    </>
  )
}

function ThreadView({ context, page, thread, onEarlier }: ThreadProps & { onEarlier(): void }) {
  const { language } = context
  const own = SESSION_TEXTS[language]
  const { session_id, items, total, unread } = thread
  const earlier = total - items.length
  return (
    <Section title={own.thread}>
      <div class="flex flex-col gap-4">
        {earlier > 0 && (
          <span>
            <Button onClick={onEarlier}>{own.earlier(earlier)}</Button>
          </span>
        )}
        {items.length + unread.length === 0 && (
          <Card>
            <Empty>{own.noThread}</Empty>
          </Card>
        )}
        <ol class="flex flex-col gap-5">
          {items.toReversed().map((run) => (
            <ThreadRunView key={run.dispatch_id} {...{ context, page, run }} session={session_id} />
          ))}
        </ol>
        {unread
          .filter(({ kind }) => kind === 'message')
          .map(({ id, text }) => (
            <Said key={id} label={own.you} text={text} note={own.unread} />
          ))}
        <MessageField page={page} language={language} session={session_id} />
      </div>
    </Section>
  )
}

/** Fetched when the owner wants to see it: a session may have changed thousands of files. */
function SessionChanges({ page, language, session }: { page: PageState; language: Language; session: string }) {
  const own = SESSION_TEXTS[language]
  const [isOpen, setOpen] = useState(false)
  return (
    <Section title={own.changes}>
      {isOpen ? (
        <Changes page={page} language={language} of={{ session }} />
      ) : (
        <Button onClick={() => setOpen(true)}>{own.showChanges}</Button>
      )}
    </Section>
  )
}
