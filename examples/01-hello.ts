// Run it: node_modules/.bin/node examples/01-hello.ts
import { runTask } from 'tireless'

const result = await runTask('Create hello.md with the text "Good morning". Then show hello.md.', {
  home: process.env.TIRELESS_HOME ?? './.tireless',
  onProgress: (progress) => {
    if (progress.kind === 'event') console.log(progress.event.step_id, progress.event.phase, progress.event.stage)
  },
})

console.log(result.status, result.answer)
