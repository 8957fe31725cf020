/** A message to a session while it is written and sent. */

import { useLayoutEffect, useState } from 'preact/hooks'
import type { Address } from './outbox.ts'
import type { Feedback, PageState } from './page-state.ts'

interface Written {
  readonly text: string
  readonly isBusy: boolean
  write(text: string): void
  /** Contract: the field is empty at once; a text that was not accepted comes back before what was written since. */
  send(): Promise<void>
}

export function useMessage(page: PageState, to: Address, feedback: Feedback<'send'> & { busy: string }): Written {
  const draft = page.conversation.outbox.draft(to.place)
  const [text, setText] = useState(draft.text)
  useLayoutEffect(() => {
    setText(draft.text)
    return draft.listen(setText)
  }, [draft])
  return {
    text,
    isBusy: page.view.busy.has(feedback.busy),
    write: (written) => draft.write(written),
    async send() {
      if (text.trim() === '') return
      draft.write('')
      await page.sendTo(to, text, feedback)
    },
  }
}
