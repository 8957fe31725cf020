/** The kernel's folder, which survives processes. A file is replaced atomically; users may edit it at any moment. */

import type { DocumentFiles } from '../../../src/adapters/documents/files.ts'
import type { DocumentFileContent } from '../../../src/adapters/documents/read-file.ts'
import type { SimProcess } from '../process.ts'
import type { World } from '../world.ts'

export function simFiles(world: World, proc: SimProcess): DocumentFiles {
  const files = proc.home?.files ?? world.files
  const contentOf = (name: string): DocumentFileContent => {
    const text = files.get(name)
    return text === undefined ? { kind: 'absent' } : { kind: 'text', text }
  }
  const isUnchanged = (name: string, expected: DocumentFileContent): boolean =>
    expected.kind === 'text' ? files.get(name) === expected.text : !files.has(name)
  return {
    folder: 'home',
    read: (name) => world.io(proc, 'read', `file ${name}`, () => contentOf(name)),
    replace(name, text, expected) {
      world.stateDocument.onReplace()
      return world.io(proc, 'file', name, () => {
        if (!isUnchanged(name, expected)) {
          world.counters.add('file edited before it was replaced')
          return false
        }
        files.set(name, text)
        return true
      })
    },
    findLateEdit: async () => undefined,
    async setAside(name) {
      files.delete(name)
      return `${name}.torn`
    },
    listCopies: async () => [],
    saveCopy: async (name, kind) => `${name}.${kind}`,
    // Belongs to the fallback folder, which the simulator never uses.
    remove: async () => {},
    removeCopy: async () => {},
    close: async () => {},
  }
}
