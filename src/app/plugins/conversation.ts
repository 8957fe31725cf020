/** Plugin `conversation`: passes messages of people on to sessions. */

import { receivedFiles } from '../../adapters/envs/received-files.ts'
import { conversationTools } from '../../adapters/tools/tools.ts'
import { createMessageRouter } from '../../kernel/conversation/message-router.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import { workspacePreparer } from '../prepare-workspace.ts'

export function conversation(): Plugin {
  return definePlugin({
    name: 'conversation',
    needs: ['home', 'storedPaths', 'config', 'clock', 'ids', 'store', 'sandbox', 'tools'],
    setup(host) {
      const router = createMessageRouter({
        ...{ store: host.get('store'), clock: host.get('clock'), ids: host.get('ids') },
        kernelId: host.get('config').loaded.config.kernel.id,
        prepareWorkspace: workspacePreparer(host),
        receivedFiles,
      })
      host.get('tools').add(...conversationTools(router))
    },
  })
}
