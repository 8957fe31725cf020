/** Texts of the dialog that forks a run. */

const en = {
  forkTitle: (step: number) => `Fork from step ${step}`,
  forkFirst: (step: number) =>
    step === 1
      ? 'A new run keeps step 1 and goes on from there. This run stays as it is.'
      : `A new run keeps steps 1 to ${step} and goes on from there. This run stays as it is.`,
  forkFiles: (step: number) =>
    `It works on a copy of the files as they were after step ${step}, or as they are now if there is no snapshot.`,
  forkEffects: 'Tools really run again from there: messages may be sent, files written.',
  forkModel: 'Model of the fork',
  sameModel: (model: string) => `as before (${model})`,
  forkStep: 'Keep the steps up to',
  forkCost: (cost: string, tokens: string) => `This run used ${tokens} tokens after that step, for ${cost}.`,
  forkTokens: (tokens: string) => `This run used ${tokens} tokens after that step.`,
  forkEstimate: (cost: string) => `With the chosen model, as many tokens cost about ${cost}.`,
  forkNoPrice: 'The price of the chosen model is not known.',
  forkYes: 'Start the fork',
  forked: 'The fork has started.',
  forkedNow: 'The fork has started with the files as they are now: there is no snapshot of that step.',
}

const zh: typeof en = {
  forkTitle: (step) => `从第 ${step} 步分叉`,
  forkFirst: (step) =>
    step === 1
      ? '新的运行保留第 1 步，从那里继续。这次运行保持不变。'
      : `新的运行保留第 1 至 ${step} 步，从那里继续。这次运行保持不变。`,
  forkFiles: (step) => `它使用第 ${step} 步之后的文件副本；如果那一步没有快照，就用现在的文件。`,
  forkEffects: '从那里开始工具会真正执行：可能发送消息、写入文件。',
  forkModel: '分叉使用的模型',
  sameModel: (model) => `与原来相同（${model}）`,
  forkStep: '保留到第几步',
  forkCost: (cost, tokens) => `这次运行在那之后用了 ${tokens} token，花费 ${cost}。`,
  forkTokens: (tokens) => `这次运行在那之后用了 ${tokens} token。`,
  forkEstimate: (cost) => `换成所选模型，同样多的 token 大约花费 ${cost}。`,
  forkNoPrice: '所选模型的价格未知。',
  forkYes: '开始分叉',
  forked: '分叉已开始。',
  forkedNow: '分叉已开始，使用现在的文件：那一步没有快照。',
}

export const FORK_TEXTS = { en, zh }
