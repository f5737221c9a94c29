//! As much of HTTP/1.1 as a local client needs: read one request, write one response, keep the connection.

use std::io::{self, BufRead, Read, Write};

/// One request, its body already put together.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The path without its query.
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
}

/// What is sent back, always with status 200.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) content_type: &'static str,
    pub(crate) body: String,
}

impl Response {
    pub(crate) fn json(body: String) -> Self {
        Self { content_type: "application/json", body }
    }
}

/// Reads the next request; `None` where the peer closed the connection between two of them.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Option<Request>> {
    let first = line(input)?;
    let mut words = first.split(' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(None) };
    let path = target.split('?').next().unwrap_or(target);

    let (mut length, mut chunked) = (0, false);
    loop {
        let header = line(input)?;
        let Some((name, value)) = header.split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = number(value.trim(), 10)?,
            "transfer-encoding" => chunked = value.trim().eq_ignore_ascii_case("chunked"),
            _ => {}
        }
    }

    let body = if chunked { read_chunks(input)? } else { read_exactly(input, length)? };
    Ok(Some(Request { method: method.into(), path: path.into(), body }))
}

/// Writes one response; HEAD gets the headers alone.
pub(crate) fn write(output: &mut impl Write, request: &Request, response: &Response) -> io::Result<()> {
    let Response { content_type, body } = response;
    let length = body.len();
    write!(output, "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n\r\n")?;
    if request.method != "HEAD" {
        output.write_all(body.as_bytes())?;
    }
    output.flush()
}

fn line(input: &mut impl BufRead) -> io::Result<String> {
    let mut text = String::new();
    input.read_line(&mut text)?;
    Ok(text.trim_end().to_owned())
}

fn number(text: &str, radix: u32) -> io::Result<usize> {
    usize::from_str_radix(text, radix).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn read_exactly(input: &mut impl BufRead, length: usize) -> io::Result<Vec<u8>> {
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    Ok(body)
}

fn read_chunks(input: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = line(input)?;
        let length = number(size.split(';').next().unwrap_or_default(), 16)?;
        input.take(length as u64).read_to_end(&mut body)?;
        line(input)?;
        if length == 0 {
            return Ok(body);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Request, Response, read, write};

    fn first(mut text: &[u8]) -> Option<Request> {
        read(&mut text).unwrap()
    }

    #[test]
    fn a_body_ends_where_its_length_says() {
        let request = first(b"POST /v1/messages?beta=true HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi!").unwrap();
        assert_eq!(request.path, "/v1/messages");
        assert_eq!(request.body, b"hi");
    }

    #[test]
    fn chunks_are_put_together() {
        let text = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n1\r\nd\r\n0\r\n\r\n";
        assert_eq!(first(text).unwrap().body, b"abcd");
    }

    #[test]
    fn a_closed_connection_is_no_request() {
        assert!(first(b"").is_none());
    }

    #[test]
    fn a_head_request_gets_no_body() {
        let mut output = Vec::new();
        let request = first(b"HEAD / HTTP/1.1\r\n\r\n").unwrap();
        write(&mut output, &request, &Response::json("{}".into())).unwrap();
        assert!(output.ends_with(b"content-length: 2\r\n\r\n"));
    }
}
