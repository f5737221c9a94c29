//! Requests and responses of HTTP/1.1, as far as the server needs them.

use std::io::{self, BufRead, Read, Write};

use serde_json::{Map, Value, json};

/// One request, header names in lower case.
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Map<String, Value>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// Reads the next request; there is none when the client has closed the connection.
    pub(crate) fn read(stream: &mut impl BufRead) -> io::Result<Option<Self>> {
        let Some(first) = read_line(stream)? else { return Ok(None) };
        let mut words = first.split(' ').map(str::to_owned);
        let (Some(method), Some(path)) = (words.next(), words.next()) else {
            return Err(invalid("the request line"));
        };
        let mut headers = Map::new();
        while let Some(line) = read_line(stream)?.filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':').ok_or_else(|| invalid("a header"))?;
            headers.insert(name.to_lowercase(), json!(value.trim()));
        }
        let mut request = Self { method, path, headers, body: Vec::new() };
        request.body = request.read_body(stream)?;
        Ok(Some(request))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.as_str()
    }

    /// What the log says of it.
    pub(crate) fn event(&self) -> Value {
        json!({
            "event": "http",
            "method": self.method,
            "path": self.path,
            "headers": self.headers,
            "body": String::from_utf8_lossy(&self.body),
        })
    }

    /// Whether the client wants no further request on this connection.
    pub(crate) fn closes(&self) -> bool {
        self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }

    fn read_body(&self, stream: &mut impl BufRead) -> io::Result<Vec<u8>> {
        if self.header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
            return read_chunks(stream);
        }
        let length = self.header("content-length").unwrap_or("0");
        read_exactly(stream, length.parse().map_err(|_| invalid("Content-Length"))?)
    }
}

fn read_chunks(stream: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = read_line(stream)?.unwrap_or_default();
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(|_| invalid("a chunk"))?;
        if size == 0 {
            while read_line(stream)?.is_some_and(|trailer| !trailer.is_empty()) {}
            return Ok(body);
        }
        body.append(&mut read_exactly(stream, size)?);
        read_line(stream)?;
    }
}

fn read_exactly(stream: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_line(stream: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    let length = stream.read_line(&mut line)?;
    Ok((length > 0).then(|| line.trim_end().to_owned()))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{what} cannot be read"))
}

/// One response.
pub(crate) struct Response {
    status: &'static str,
    headers: Vec<(&'static str, String)>,
    body: String,
    chunked: bool,
}

impl Response {
    /// A response without a body.
    pub(crate) fn empty(status: &'static str) -> Self {
        Self { status, headers: Vec::new(), body: String::new(), chunked: false }
    }

    /// A response with a body of that type.
    pub(crate) fn with_body(status: &'static str, content_type: &str, body: String) -> Self {
        Self { body, ..Self::empty(status) }.header("Content-Type", content_type)
    }

    /// A stream of events, in chunks, for nobody knows the length of a stream; it has none yet.
    pub(crate) fn stream() -> Self {
        Self { chunked: true, ..Self::with_body("200 OK", "text/event-stream", String::new()) }
    }

    /// A stream of one event.
    pub(crate) fn event(data: &Value) -> Self {
        Self { body: event("message", &data.to_string()), ..Self::stream() }
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// All of it in one write.
    pub(crate) fn write(&self, stream: &mut impl Write) -> io::Result<()> {
        let mut bytes = self.head()?;
        if self.chunked {
            bytes.append(&mut chunk(&self.body));
            bytes.extend_from_slice(b"0\r\n\r\n");
        } else {
            bytes.extend_from_slice(self.body.as_bytes());
        }
        stream.write_all(&bytes)
    }

    /// The head alone: the chunks of its body come as they are.
    pub(crate) fn write_head(&self, stream: &mut impl Write) -> io::Result<()> {
        stream.write_all(&self.head()?)
    }

    fn head(&self) -> io::Result<Vec<u8>> {
        let Self { status, headers, body, chunked } = self;
        let mut bytes = Vec::new();
        write!(bytes, "HTTP/1.1 {status}\r\n")?;
        for (name, value) in headers {
            write!(bytes, "{name}: {value}\r\n")?;
        }
        if *chunked {
            write!(bytes, "Transfer-Encoding: chunked\r\n\r\n")?;
        } else {
            write!(bytes, "Content-Length: {}\r\n\r\n", body.len())?;
        }
        Ok(bytes)
    }
}

/// One event, as a chunk of a stream.
pub(crate) fn event_chunk(name: &str, data: &str) -> Vec<u8> {
    chunk(&event(name, data))
}

fn event(name: &str, data: &str) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

fn chunk(text: &str) -> Vec<u8> {
    format!("{:x}\r\n{text}\r\n", text.len()).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Request {
        Request::read(&mut text.as_bytes()).unwrap().unwrap()
    }

    #[test]
    fn a_body_has_its_length_or_its_chunks() {
        let request = read("POST /mcp HTTP/1.1\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}rest");
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/mcp"));
        assert_eq!(request.body, b"{}");
        assert!(request.closes());
        let request =
            read("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1;x\r\nc\r\n0\r\n\r\n");
        assert_eq!(request.body, b"abc");
        assert!(!request.closes());
    }

    #[test]
    fn the_end_is_no_request() {
        assert!(Request::read(&mut "".as_bytes()).unwrap().is_none());
        assert!(Request::read(&mut "POST\r\n\r\n".as_bytes()).is_err());
    }

    #[test]
    fn a_response_has_its_length_or_its_chunks() {
        let mut bytes = Vec::new();
        Response::with_body("200 OK", "a/b", "hi".into()).write(&mut bytes).unwrap();
        assert_eq!(bytes, b"HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 2\r\n\r\nhi");
        bytes.clear();
        Response::event(&json!(1)).write(&mut bytes).unwrap();
        assert!(bytes.ends_with(b"\r\n\r\n18\r\nevent: message\ndata: 1\n\n\r\n0\r\n\r\n"));
    }
}
