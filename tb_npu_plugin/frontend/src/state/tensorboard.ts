/**
 * The part of TensorBoard's plugin protocol that we need (its library is not published): a message
 * port handed over at start, on which "reload" arrives as a call that wants an answer.
 */

interface Message {
  type: string;
  id: number;
  payload: unknown;
  error: string | null;
  isReply: boolean;
}

export function onTensorBoardReload(reload: () => void): void {
  if (window.parent === window) return;
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = (event: MessageEvent<string>) => {
    const message = JSON.parse(event.data) as Message;
    if (message.isReply) return;
    if (message.type === 'experimental.DataReloaded') reload();
    const answer: Message = { ...message, payload: null, error: null, isReply: true };
    port1.postMessage(JSON.stringify(answer));
  };
  window.parent.postMessage('experimental.bootstrap', '*', [port2]);
}
