/** The field in which the owner writes. The text is kept until the server has accepted it. */

import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../components.tsx'
import type { Draft } from '../draft.ts'
import { isSendKey } from '../enter-key.ts'
import type { PageState } from '../page-state.ts'
import type { Texts } from '../texts.ts'
import { TALK } from './conversation.ts'

interface ComposerProps {
  readonly page: PageState
  readonly texts: Texts
  /** The agent waits for an answer. */
  readonly isAsked?: boolean
  /** An example that the owner has chosen. */
  readonly example?: string
}

/** The frame around field and button shows the focus of the field. */
const FRAME_CLASSES = [
  'flex items-end gap-2 rounded-2xl border border-line bg-surface p-2 shadow-sm',
  'has-[textarea:focus]:border-decide has-[textarea:focus]:ring-1 has-[textarea:focus]:ring-decide',
].join(' ')

const FIELD_CLASSES = [
  'min-h-9 min-w-0 flex-1 resize-none bg-transparent px-2 py-1.5 text-[15px] outline-none! placeholder:text-muted',
  'placeholder:truncate',
].join(' ')

interface AnswerSwitchProps extends Pick<ComposerProps, 'texts'> {
  readonly isAnswer: boolean
  toggle(): void
}

/** While a question is open, the next message answers it unless the owner says otherwise. */
function AnswerSwitch({ texts, isAnswer, toggle }: AnswerSwitchProps) {
  return (
    <p class="label flex flex-wrap items-baseline gap-x-2 px-1" data-answers={isAnswer}>
      {isAnswer ? texts.talk.answers : texts.talk.isNew}
      <button type="button" class="cursor-pointer text-link underline underline-offset-2" onClick={toggle}>
        {isAnswer ? texts.talk.makeNew : texts.talk.makeAnswer}
      </button>
    </p>
  )
}

const MAX_HEIGHT_PX = 220

export function Composer({ page, texts, isAsked = false, example = '' }: ComposerProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  const draft = page.conversation.outbox.draft(TALK.place)
  const [text, setText] = useState(draft.text)
  const [isNew, setNew] = useState(false)
  const isAnswer = isAsked && !isNew
  useLayoutEffect(() => draft.listen(setText), [draft])
  useKeptFocus(field, draft)
  useLayoutEffect(() => {
    if (example === '') return
    draft.write(example)
    field.current?.focus()
  }, [draft, example])
  useLayoutEffect(() => grow(field.current), [text])

  const send = async (): Promise<void> => {
    const said = text.trim()
    if (said === '') return
    draft.write('')
    setNew(false)
    const address = { ...TALK, new: isAsked && isNew }
    await page.conversation.send(address, said).catch((thrown: unknown) => page.reportFailure(thrown))
  }
  return (
    <form
      class="flex flex-col gap-1.5"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      {isAsked && <AnswerSwitch {...{ texts, isAnswer }} toggle={() => setNew(!isNew)} />}
      <div class={FRAME_CLASSES}>
        <textarea
          ref={field}
          rows={1}
          class={FIELD_CLASSES}
          name="message"
          aria-label={texts.talk.placeholder}
          placeholder={isAnswer ? texts.talk.answerPlaceholder : texts.talk.placeholder}
          title={texts.talk.hint}
          value={text}
          onInput={({ currentTarget }) => draft.write(currentTarget.value)}
          onKeyDown={(event) => {
            if (!isSendKey(event)) return
            event.preventDefault()
            void send()
          }}
        />
        <Button look="main" type="submit" busy={false}>
          {texts.talk.send}
        </Button>
      </div>
    </form>
  )
}

/** An empty page has another field than a conversation. */
function useKeptFocus(field: RefObject<HTMLTextAreaElement | null>, draft: Draft): void {
  useLayoutEffect(() => {
    const element = field.current
    if (draft.hadFocus) element?.focus()
    return () => {
      draft.hadFocus = element !== null && document.activeElement === element
    }
  }, [draft])
}

function grow(field: HTMLTextAreaElement | null): void {
  if (!field) return
  field.style.height = 'auto'
  field.style.height = `${Math.min(field.scrollHeight, MAX_HEIGHT_PX)}px`
}
