"use strict";
// One stream per address for all tabs of a browser. A tab that is hidden wants none.
const SILENT_MS = 60000;
const wants = new Map();
const sources = new Map();

function send(address, message) {
  for (const [port, want] of wants) if (want.address === address) port.postMessage(message);
}

function open(address) {
  close(address);
  const source = new EventSource(address);
  sources.set(address, source);
  for (const name of ["runs", "begin", "lines", "ended"]) {
    source.addEventListener(name, (event) => {
      // The server closes the stream behind it; the browser would ask again.
      if (name === "ended") close(address);
      send(address, { name, text: event.data });
    });
  }
  source.onopen = () => send(address, { name: "open" });
  source.onerror = () => send(address, { name: source.readyState === EventSource.CLOSED ? "refused" : "lost" });
}

function close(address) {
  const source = sources.get(address);
  if (source) source.close();
  sources.delete(address);
}

function leave(port) {
  const want = wants.get(port);
  wants.delete(port);
  if (want && ![...wants.values()].some((other) => other.address === want.address)) close(want.address);
}

onconnect = (event) => {
  const [port] = event.ports;
  port.onmessage = ({ data }) => {
    const want = wants.get(port);
    if (want && want.address === data.address) {
      want.seen = Date.now();
      return;
    }
    leave(port);
    if (data.address) {
      wants.set(port, { address: data.address, seen: Date.now() });
      // Opened anew, so that the new tab gets the beginning, too.
      open(data.address);
    }
  };
};

setInterval(() => {
  for (const [port, want] of wants) if (Date.now() - want.seen > SILENT_MS) leave(port);
}, SILENT_MS / 2);
