/** The script of a model that waits for a message. */

import type { Script } from '../../src/testing/provider-server.ts'

export const WAITING_SCRIPT: Script = [{ calls: [{ tool: 'wait', args: { for: 'message' } }] }, { text: 'thank you' }]
