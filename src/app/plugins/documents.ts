/** Plugin `documents`: the kernel's documents in store, files and git mirror, and the tools for STATE.md. */

import { join } from 'node:path'
import { createCopyNotices } from '../../adapters/documents/copy-notices.ts'
import { createDocuments, type ManagedDocuments } from '../../adapters/documents/documents.ts'
import { diskFiles } from '../../adapters/documents/files.ts'
import { createGitMirror } from '../../adapters/documents/git-mirror.ts'
import { createBareGit } from '../../adapters/envs/git.ts'
import { stateTools } from '../../adapters/tools/tools.ts'
import { environment } from '../../config.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import { isSharedStore } from '../../ports/store.ts'
import { homeId } from '../home-id.ts'

export function documents(): Plugin {
  let made: ManagedDocuments | undefined
  return definePlugin({
    name: 'documents',
    needs: ['home', 'config', 'clock', 'store', 'log', 'needs', 'secrets', 'tools'],
    provides: ['documents'],
    setup(host) {
      const paths = host.get('home')
      const config = host.get('config')
      const clock = host.get('clock')
      const log = host.get('log')
      const { id } = config.loaded.config.kernel
      const gitDir = join(paths.versions, 'kernels', `${id}.git`)
      const git = createBareGit(paths.root, environment(), { GIT_DIR: gitDir })
      const home = isSharedStore(host.get('store')) ? homeId(paths.root) : undefined
      const notices = createCopyNotices(host.get('needs'), home === undefined ? id : `${id} ${home}`)
      made = createDocuments({
        kernelId: id,
        home,
        store: host.get('store'),
        clock,
        files: diskFiles(join(paths.kernels, id), clock, notices),
        fallback: diskFiles(join(paths.fallback, 'kernels', id), clock, notices),
        mirror: createGitMirror({ gitDir, git, clock }),
        // Without a sandbox, agents' commands can edit these files like the owner.
        needsAcceptance: () => config.loaded.config.sandbox === 'off',
        redact: host.get('secrets').redact,
        report: (event, details) => log.write(event === 'recovered' ? 'info' : 'warn', `document ${event}`, details),
      })
      host.provide('documents', made)
      const seed = (): string => config.loaded.config.kernel.seed_state
      host.get('tools').add(...stateTools(made, seed, host.get('secrets').find))
    },
    stop: () => made?.close(),
  })
}
