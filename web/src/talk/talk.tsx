/** The place Talk: the conversation with the agent, and the field to write to it. */

import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from '../components.tsx'
import type { PageState } from '../page-state.ts'
import { NotRead, type PlaceProps } from '../shell/place.tsx'
import { useViewContext, type ViewContext } from '../view-context.ts'
import { Composer } from './composer.tsx'
import { OwnerText, Turn } from './turn.tsx'
import { Welcome } from './welcome.tsx'

const FRAME_CLASSES = [
  'mx-auto -mb-24 flex min-h-[calc(100dvh-3.5rem)] max-w-3xl flex-col',
  'md:-mb-12 md:min-h-[calc(100dvh-1.5rem)]',
].join(' ')

/** On a phone its background continues behind the bar at the bottom, so that no text shows between the two. */
const COMPOSER_CLASSES = [
  'sticky bottom-0 z-10 mt-auto bg-paper pt-2 pb-[calc(3.9rem+env(safe-area-inset-bottom))] md:pb-5',
].join(' ')

export function Talk(props: PlaceProps) {
  const { page, texts } = props
  const { conversation } = page
  const context = useViewContext(props, 1000)
  useEffect(() => page.keepFresh(() => conversation.fetch()), [page])
  const { items, pending, isLoaded } = conversation
  const approving = new Set(page.view.approvals.map(({ session_id }) => session_id))
  // A run that waits for an approval is answered with its buttons.
  const isAsked = items.some(({ runs }) =>
    runs.some(({ question, session_id }) => question !== null && !approving.has(session_id)),
  )
  if (!isLoaded && !page.view.isIncomplete) return <h1 class="sr-only">{texts.places.talk}</h1>
  if (isLoaded && items.length === 0 && pending.length === 0) return <Welcome context={context} page={page} />
  return (
    <div class={FRAME_CLASSES}>
      <h1 class="sr-only">{texts.places.talk}</h1>
      {isLoaded ? <Messages context={context} page={page} /> : <NotRead texts={texts} />}
      <div class={COMPOSER_CLASSES} data-composer>
        <Composer {...{ page, texts, isAsked }} />
      </div>
    </div>
  )
}

/** Of so many messages, long results are shown further. */
const NEW_COUNT = 5

/** How close to the end the page must be scrolled to follow new text. */
const NEAR_END_PX = 160

function Messages({ context, page }: { readonly context: ViewContext; readonly page: PageState }) {
  const { texts } = context
  const { items, pending, hasMore } = page.conversation
  const isAtEnd = useRef(true)
  useEffect(() => {
    const read = (): void => {
      const { scrollHeight, scrollTop, clientHeight } = document.documentElement
      isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX
    }
    addEventListener('scroll', read, { passive: true })
    return () => removeEventListener('scroll', read)
  }, [])
  // Follows the conversation while it grows, unless the owner has scrolled up to read.
  useLayoutEffect(() => {
    if (isAtEnd.current) scrollTo(0, document.documentElement.scrollHeight)
  })
  useEffect(() => {
    isAtEnd.current = true
  }, [pending.length])
  /** A run that several messages reached is shown at the last of them. */
  const lastOf = new Map(items.flatMap(({ id, runs }) => runs.map(({ dispatch_id }) => [dispatch_id, id] as const)))
  return (
    <ol class="flex flex-col gap-7 pb-4" aria-label={texts.places.talk}>
      {hasMore && (
        <li class="self-center">
          <Button onClick={() => void page.conversation.fetchEarlier().catch((thrown) => page.reportFailure(thrown))}>
            {texts.talk.earlier}
          </Button>
        </li>
      )}
      {items.map((message, at) => (
        <Turn
          key={message.id}
          {...{ context, page, message }}
          isNew={at >= items.length - NEW_COUNT}
          runs={message.runs.filter(({ dispatch_id }) => lastOf.get(dispatch_id) === message.id)}
        />
      ))}
      {pending.map(({ at, text }, index) => (
        <li key={`${at} ${index}`} class="flex flex-col opacity-60">
          <OwnerText text={text} note={texts.talk.sending} />
        </li>
      ))}
    </ol>
  )
}
