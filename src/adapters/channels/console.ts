/** The console channel: writes each message to the log, and to the terminal if the runtime has one. */

import type { ChannelMessage } from '../../domain/message.ts'
import type { Channel } from '../../ports/channel.ts'

interface Terminal {
  /** Contract: never throws. */
  show(text: string): void
  log(message: ChannelMessage): void
}

export function consoleChannel({ show, log }: Terminal): Channel {
  return {
    name: 'console',
    trouble: () => null,
    async deliver(message) {
      log(message)
      show(message.text)
    },
  }
}
