import { definePlugin, defineTool } from 'tireless'
import { z } from 'zod'

interface DoorOps {
  tryCode(code: string): boolean
}

declare module 'tireless' {
  interface OpsGroups {
    readonly door: DoorOps
  }
}

const tryCode = defineTool({
  name: 'try_code',
  description: 'Tries a code on the door.',
  args: z.strictObject({ code: z.string() }),
  needs: ['door'],
  effect: () => ({ recovery: 'once', reach: 'none' }),
  run: async ({ code }, { ops }) => ({ status: 'ok', content: ops('door').tryCode(code) ? 'it opens' : 'wrong code' }),
})

export default definePlugin({
  name: 'door',
  needs: ['envKinds', 'tools'],
  setup(host) {
    host.get('tools').add(tryCode)
    host.get('envKinds').add({
      name: 'door',
      tools: ['try_code'],
      open() {
        const codes: string[] = []
        const isOpen = () => codes.at(-1) === '4711'
        return {
          ops: { door: { tryCode: (code) => codes.push(code) > 0 && isOpen() } },
          isTerminal() {
            if (isOpen()) return { reason: 'the door is open', answer: `open after ${codes.length} tries` }
            return codes.length >= 5 ? { reason: 'the door has locked itself', failed: true } : false
          },
        }
      },
    })
  },
})
