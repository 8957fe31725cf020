/** A command that stays beside the home and has others asked for one by one: by whoever holds it then, or by this process for that moment. */

import type { Command, Context } from '../commands/command.ts'
import { execute } from '../commands/execute.ts'
import { commandNamed } from '../commands/named.ts'
import { serveMcp } from '../server/mcp.ts'
import { type Asked, reach } from './run-command.ts'
import { outsideIn } from './run-local.ts'
import { onStop } from './signals.ts'

export async function beside({ command, input, where, tell }: Asked): Promise<unknown> {
  const { signals, over } = onStop()
  // What each of them tells on its way is nobody's business here: stdout belongs to the conversation.
  const ask = (asked: Command, given: unknown): Promise<unknown> =>
    reach({ command: asked, input: given, where, tell() {}, signals })
  const context: Pick<Context, 'offer'> = {
    async offer(offers) {
      const commands = offers.map(async ({ name, fixed = {} }) => {
        const found = await commandNamed(name)
        return found ? [{ command: found, fixed }] : []
      })
      const offered = (await Promise.all(commands)).flat()
      await serveMcp({ offered, ask, input: process.stdin, output: process.stdout, over: signals.drain })
    },
  }
  try {
    return await execute(command, { ...outsideIn(where, signals), ...context } as Context, input, tell)
  } finally {
    over()
  }
}
