/** A message to a session while it is written and sent. */

import { useState } from 'preact/hooks'
import type { Feedback, PageState } from './page-state.ts'

interface Written {
  readonly text: string
  readonly isBusy: boolean
  write(text: string): void
  /** Contract: the field is empty at once; a text that was not accepted comes back before what was written since. */
  send(): Promise<void>
}

export function useMessage(page: PageState, session: string, feedback: Feedback<'send'> & { busy: string }): Written {
  const [text, write] = useState('')
  return {
    text,
    isBusy: page.view.busy.has(feedback.busy),
    write,
    async send() {
      if (text.trim() === '') return
      write('')
      if (!(await page.sendTo(session, text, feedback)))
        write((meanwhile) => (meanwhile === '' ? text : `${text} ${meanwhile}`))
    },
  }
}
